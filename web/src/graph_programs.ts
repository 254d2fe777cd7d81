// WebGL programs: nodes as discs, squares and rings with a rim, and links that may be dashed.
//
// Nodes are points and links are plain triangles, not instances: in software rendering every instance costs as much as a
// draw call, and twenty thousand of them take a second.
import type Sigma from "sigma";
import { EdgeProgram, NodeProgram } from "sigma/rendering";
import type { ProgramInfo } from "sigma/rendering";
import type { EdgeDisplayData, NodeDisplayData, RenderParams } from "sigma/types";
import { floatColor } from "sigma/utils";

export const DISC = 0;
export const SQUARE = 1;

const { FLOAT, POINTS, TRIANGLES, UNSIGNED_BYTE } = WebGLRenderingContext;

const NODE_VERTEX = /* glsl */ `
attribute vec4 a_id;
attribute vec4 a_color;
attribute vec4 a_rim;
attribute vec2 a_position;
attribute float a_size;
attribute float a_shape;

uniform mat3 u_matrix;
uniform float u_sizeRatio;
uniform float u_pixelRatio;

varying vec4 v_color;
varying vec4 v_rim;
varying float v_half;
varying float v_radius;
varying float v_shape;

const float bias = 255.0 / 254.0;

void main() {
  v_radius = a_size / u_sizeRatio * u_pixelRatio;
  v_half = v_radius + 1.0;
  v_shape = a_shape;
  gl_Position = vec4((u_matrix * vec3(a_position, 1)).xy, 0, 1);
  gl_PointSize = v_half * 2.0;
  #ifdef PICKING_MODE
  v_color = a_id;
  #else
  v_color = a_color;
  #endif
  v_color.a *= bias;
  v_rim = vec4(a_rim.rgb, a_rim.a * bias);
}
`;

const NODE_FRAGMENT = /* glsl */ `
precision highp float;

varying vec4 v_color;
varying vec4 v_rim;
varying float v_half;
varying float v_radius;
varying float v_shape;

uniform float u_pixelRatio;

const vec4 transparent = vec4(0.0, 0.0, 0.0, 0.0);

void main(void) {
  vec2 offset = (gl_PointCoord - vec2(0.5)) * 2.0 * v_half;
  vec2 corner = abs(offset) - vec2(v_radius * 0.88);
  float outside = v_shape > 0.5 ? max(corner.x, corner.y) : length(offset) - v_radius;
  #ifdef PICKING_MODE
  gl_FragColor = outside > 1.0 ? transparent : v_color;
  #else
  float width = clamp(v_radius * 0.3, 0.8 * u_pixelRatio, 2.2 * u_pixelRatio);
  vec4 inner = mix(v_color, v_rim, smoothstep(-width - 0.5, -width + 0.5, outside));
  gl_FragColor = mix(inner, transparent, smoothstep(-0.5, 0.5, outside));
  #endif
}
`;

const NODE_UNIFORMS = ["u_sizeRatio", "u_pixelRatio", "u_matrix"] as const;

export interface ShapedNode extends NodeDisplayData {
  shape: number;
  rim: string;
}

/** Discs and squares with a rim of another colour: a ring is a disc of the page's colour with a rim. */
export class NodeShapes extends NodeProgram<(typeof NODE_UNIFORMS)[number]> {
  getDefinition() {
    return {
      VERTICES: 1,
      VERTEX_SHADER_SOURCE: NODE_VERTEX,
      FRAGMENT_SHADER_SOURCE: NODE_FRAGMENT,
      METHOD: POINTS,
      UNIFORMS: NODE_UNIFORMS,
      ATTRIBUTES: [
        { name: "a_position", size: 2, type: FLOAT },
        { name: "a_size", size: 1, type: FLOAT },
        { name: "a_shape", size: 1, type: FLOAT },
        { name: "a_color", size: 4, type: UNSIGNED_BYTE, normalized: true },
        { name: "a_rim", size: 4, type: UNSIGNED_BYTE, normalized: true },
        { name: "a_id", size: 4, type: UNSIGNED_BYTE, normalized: true },
      ],
    };
  }

  processVisibleItem(nodeIndex: number, startIndex: number, data: NodeDisplayData): void {
    const { shape, rim } = data as ShapedNode;
    const { array } = this;
    array[startIndex++] = data.x;
    array[startIndex++] = data.y;
    array[startIndex++] = data.size;
    array[startIndex++] = shape;
    array[startIndex++] = floatColor(data.color);
    array[startIndex++] = floatColor(rim);
    array[startIndex++] = nodeIndex;
  }

  setUniforms(params: RenderParams, { gl, uniformLocations }: ProgramInfo<(typeof NODE_UNIFORMS)[number]>): void {
    gl.uniform1f(uniformLocations.u_pixelRatio, params.pixelRatio);
    gl.uniform1f(uniformLocations.u_sizeRatio, params.sizeRatio);
    gl.uniformMatrix3fv(uniformLocations.u_matrix, false, params.matrix);
  }
}

const LINK_VERTEX = /* glsl */ `
attribute vec4 a_color;
attribute vec2 a_position;
attribute vec2 a_normal;
attribute float a_side;
attribute float a_along;

uniform mat3 u_matrix;
uniform float u_sizeRatio;
uniform float u_correctionRatio;

varying vec4 v_color;
varying float v_across;
varying float v_half;
varying float v_along;

const float bias = 255.0 / 254.0;

void main() {
  float pixel = u_correctionRatio * 2.0;
  float width = length(a_normal);
  v_half = max(width / sqrt(u_sizeRatio), 0.7) * 0.5;
  v_across = a_side * (v_half + 0.5);
  v_along = a_along < 0.0 ? -1.0 : a_along / pixel;
  vec2 normal = width > 0.0 ? a_normal / width : vec2(0.0);
  gl_Position = vec4((u_matrix * vec3(a_position + normal * v_across * pixel, 1)).xy, 0, 1);
  v_color = vec4(a_color.rgb, a_color.a * bias);
}
`;

const LINK_FRAGMENT = /* glsl */ `
precision highp float;

varying vec4 v_color;
varying float v_across;
varying float v_half;
varying float v_along;

void main(void) {
  float gap = v_along < 0.0 ? 0.0 : smoothstep(3.2, 3.8, mod(v_along, 6.5));
  float edge = smoothstep(v_half - 0.5, v_half + 0.5, abs(v_across));
  gl_FragColor = v_color * (1.0 - edge) * (1.0 - gap);
}
`;

const LINK_UNIFORMS = ["u_sizeRatio", "u_correctionRatio", "u_matrix"] as const;
/** The corners of a link's two triangles: at its beginning or end, on one side or the other. */
const CORNERS = [[0, 1], [0, -1], [1, 1], [1, 1], [0, -1], [1, -1]] as const;

export interface DashedLink extends EdgeDisplayData {
  dashed: boolean;
}

/** Straight links, dashed if marked so; colours are premultiplied. Links are not pickable. */
export class Links extends EdgeProgram<(typeof LINK_UNIFORMS)[number]> {
  constructor(gl: WebGLRenderingContext | WebGL2RenderingContext, _picking: WebGLFramebuffer | null, renderer: Sigma) {
    super(gl, null, renderer);
  }

  getDefinition() {
    return {
      VERTICES: CORNERS.length,
      VERTEX_SHADER_SOURCE: LINK_VERTEX,
      FRAGMENT_SHADER_SOURCE: LINK_FRAGMENT,
      METHOD: TRIANGLES,
      UNIFORMS: LINK_UNIFORMS,
      ATTRIBUTES: [
        { name: "a_position", size: 2, type: FLOAT },
        { name: "a_normal", size: 2, type: FLOAT },
        { name: "a_side", size: 1, type: FLOAT },
        { name: "a_along", size: 1, type: FLOAT },
        { name: "a_color", size: 4, type: UNSIGNED_BYTE, normalized: true },
      ],
    };
  }

  processVisibleItem(
    _edgeIndex: number,
    startIndex: number,
    source: NodeDisplayData,
    target: NodeDisplayData,
    data: EdgeDisplayData,
  ): void {
    const [dx, dy] = [target.x - source.x, target.y - source.y];
    const length = Math.hypot(dx, dy);
    const scale = length > 0 ? data.size / length : 0;
    const colour = floatColor(data.color);
    const { dashed } = data as DashedLink;
    const { array } = this;
    let at = startIndex;
    for (const [end, side] of CORNERS) {
      array[at++] = end === 0 ? source.x : target.x;
      array[at++] = end === 0 ? source.y : target.y;
      array[at++] = -dy * scale;
      array[at++] = dx * scale;
      array[at++] = side;
      array[at++] = dashed ? end * length : -1;
      array[at++] = colour;
    }
  }

  setUniforms(params: RenderParams, { gl, uniformLocations }: ProgramInfo<(typeof LINK_UNIFORMS)[number]>): void {
    gl.uniform1f(uniformLocations.u_correctionRatio, params.correctionRatio);
    gl.uniform1f(uniformLocations.u_sizeRatio, params.sizeRatio);
    gl.uniformMatrix3fv(uniformLocations.u_matrix, false, params.matrix);
  }
}
