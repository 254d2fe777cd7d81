// What WebGL draws: nodes as discs, squares and rings with a rim, and links that may be dashed.
import { EdgeProgram, NodeProgram } from "sigma/rendering";
import type { ProgramInfo } from "sigma/rendering";
import type { EdgeDisplayData, NodeDisplayData, RenderParams } from "sigma/types";
import { floatColor } from "sigma/utils";

export const DISC = 0;
export const SQUARE = 1;

const { FLOAT, TRIANGLES, UNSIGNED_BYTE } = WebGLRenderingContext;

const NODE_VERTEX = /* glsl */ `
attribute vec4 a_id;
attribute vec4 a_color;
attribute vec4 a_rim;
attribute vec2 a_position;
attribute float a_size;
attribute float a_shape;
attribute vec2 a_corner;

uniform mat3 u_matrix;
uniform float u_sizeRatio;
uniform float u_correctionRatio;

varying vec4 v_color;
varying vec4 v_rim;
varying vec2 v_offset;
varying float v_radius;
varying float v_shape;

const float bias = 255.0 / 254.0;

void main() {
  float pixel = u_correctionRatio * 2.0;
  float radius = a_size / u_sizeRatio;
  vec2 offset = a_corner * (radius + 1.5);
  gl_Position = vec4((u_matrix * vec3(a_position + offset * pixel, 1)).xy, 0, 1);
  v_offset = offset;
  v_radius = radius;
  v_shape = a_shape;
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
varying vec2 v_offset;
varying float v_radius;
varying float v_shape;

const vec4 transparent = vec4(0.0, 0.0, 0.0, 0.0);

void main(void) {
  vec2 corner = abs(v_offset) - vec2(v_radius * 0.88);
  float square = max(corner.x, corner.y);
  float disc = length(v_offset) - v_radius;
  float outside = v_shape > 0.5 ? square : disc;
  #ifdef PICKING_MODE
  gl_FragColor = outside > 1.0 ? transparent : v_color;
  #else
  float width = clamp(v_radius * 0.3, 0.8, 2.2);
  vec4 inner = mix(v_color, v_rim, smoothstep(-width - 0.5, -width + 0.5, outside));
  gl_FragColor = mix(inner, transparent, smoothstep(-0.5, 0.5, outside));
  #endif
}
`;

const NODE_UNIFORMS = ["u_sizeRatio", "u_correctionRatio", "u_matrix"] as const;

export interface ShapedNode extends NodeDisplayData {
  shape: number;
  rim: string;
}

/** Discs and squares with a rim of another colour: a ring is a disc of the page's colour with a rim. */
export class NodeShapes extends NodeProgram<(typeof NODE_UNIFORMS)[number]> {
  getDefinition() {
    return {
      VERTICES: 6,
      VERTEX_SHADER_SOURCE: NODE_VERTEX,
      FRAGMENT_SHADER_SOURCE: NODE_FRAGMENT,
      METHOD: TRIANGLES,
      UNIFORMS: NODE_UNIFORMS,
      ATTRIBUTES: [
        { name: "a_position", size: 2, type: FLOAT },
        { name: "a_size", size: 1, type: FLOAT },
        { name: "a_shape", size: 1, type: FLOAT },
        { name: "a_color", size: 4, type: UNSIGNED_BYTE, normalized: true },
        { name: "a_rim", size: 4, type: UNSIGNED_BYTE, normalized: true },
        { name: "a_id", size: 4, type: UNSIGNED_BYTE, normalized: true },
      ],
      CONSTANT_ATTRIBUTES: [{ name: "a_corner", size: 2, type: FLOAT }],
      CONSTANT_DATA: [[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]],
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
    gl.uniform1f(uniformLocations.u_correctionRatio, params.correctionRatio);
    gl.uniform1f(uniformLocations.u_sizeRatio, params.sizeRatio);
    gl.uniformMatrix3fv(uniformLocations.u_matrix, false, params.matrix);
  }
}

const LINK_VERTEX = /* glsl */ `
attribute vec4 a_id;
attribute vec4 a_color;
attribute vec2 a_normal;
attribute vec2 a_start;
attribute vec2 a_end;
attribute float a_dash;
attribute vec2 a_corner;

uniform mat3 u_matrix;
uniform float u_sizeRatio;
uniform float u_correctionRatio;

varying vec4 v_color;
varying float v_across;
varying float v_half;
varying float v_along;
varying float v_dash;

const float bias = 255.0 / 254.0;

void main() {
  float pixel = u_correctionRatio * 2.0;
  float width = length(a_normal);
  float half_width = max(width / u_sizeRatio, 0.7) * 0.5;
  vec2 normal = width > 0.0 ? a_normal / width : vec2(0.0);
  vec2 position = mix(a_start, a_end, a_corner.x) + normal * a_corner.y * (half_width + 0.5) * pixel;
  gl_Position = vec4((u_matrix * vec3(position, 1)).xy, 0, 1);
  v_across = a_corner.y * (half_width + 0.5);
  v_half = half_width;
  v_along = a_corner.x * length(a_end - a_start) / pixel;
  v_dash = a_dash;
  #ifdef PICKING_MODE
  v_color = a_id;
  #else
  v_color = a_color;
  #endif
  v_color.a *= bias;
}
`;

const LINK_FRAGMENT = /* glsl */ `
precision highp float;

varying vec4 v_color;
varying float v_across;
varying float v_half;
varying float v_along;
varying float v_dash;

void main(void) {
  #ifdef PICKING_MODE
  gl_FragColor = v_color;
  #else
  float gap = v_dash > 0.5 ? smoothstep(3.2, 3.8, mod(v_along, 6.5)) : 0.0;
  float edge = smoothstep(v_half - 0.5, v_half + 0.5, abs(v_across));
  gl_FragColor = v_color * (1.0 - edge) * (1.0 - gap);
  #endif
}
`;

export interface DashedLink extends EdgeDisplayData {
  dashed: boolean;
}

/** Straight links, dashed where they say so; the colours have their alpha multiplied in. */
export class Links extends EdgeProgram<(typeof NODE_UNIFORMS)[number]> {
  getDefinition() {
    return {
      VERTICES: 6,
      VERTEX_SHADER_SOURCE: LINK_VERTEX,
      FRAGMENT_SHADER_SOURCE: LINK_FRAGMENT,
      METHOD: TRIANGLES,
      UNIFORMS: NODE_UNIFORMS,
      ATTRIBUTES: [
        { name: "a_start", size: 2, type: FLOAT },
        { name: "a_end", size: 2, type: FLOAT },
        { name: "a_normal", size: 2, type: FLOAT },
        { name: "a_dash", size: 1, type: FLOAT },
        { name: "a_color", size: 4, type: UNSIGNED_BYTE, normalized: true },
        { name: "a_id", size: 4, type: UNSIGNED_BYTE, normalized: true },
      ],
      CONSTANT_ATTRIBUTES: [{ name: "a_corner", size: 2, type: FLOAT }],
      CONSTANT_DATA: [[0, 1], [0, -1], [1, 1], [1, 1], [0, -1], [1, -1]],
    };
  }

  processVisibleItem(
    edgeIndex: number,
    startIndex: number,
    source: NodeDisplayData,
    target: NodeDisplayData,
    data: EdgeDisplayData,
  ): void {
    const [dx, dy] = [target.x - source.x, target.y - source.y];
    const length = Math.hypot(dx, dy);
    const scale = length > 0 ? data.size / length : 0;
    const { array } = this;
    array[startIndex++] = source.x;
    array[startIndex++] = source.y;
    array[startIndex++] = target.x;
    array[startIndex++] = target.y;
    array[startIndex++] = -dy * scale;
    array[startIndex++] = dx * scale;
    array[startIndex++] = (data as DashedLink).dashed ? 1 : 0;
    array[startIndex++] = floatColor(data.color);
    array[startIndex++] = edgeIndex;
  }

  setUniforms(params: RenderParams, { gl, uniformLocations }: ProgramInfo<(typeof NODE_UNIFORMS)[number]>): void {
    gl.uniform1f(uniformLocations.u_correctionRatio, params.correctionRatio);
    gl.uniform1f(uniformLocations.u_sizeRatio, params.sizeRatio);
    gl.uniformMatrix3fv(uniformLocations.u_matrix, false, params.matrix);
  }
}

