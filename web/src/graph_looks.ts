// How sigma is to draw a node and a link of the network: size, shape and colours by what they are.
import { radiusOf, sameColour, type Model } from "./graph_model";
import { DISC, SQUARE } from "./graph_programs";
import { premultiplied, type Look } from "./palette";

export function nodeAttributes(model: Model, at: number, look: Look, unit: number) {
  const role = model.roles[at]!;
  const colour = model.colours[at]!;
  const hollow = role === "neighbor" || role === "brought" || role === "pinned";
  return {
    size: radiusOf(role, model.degrees[at]!, unit),
    shape: role === "cell" ? SQUARE : DISC,
    color: hollow ? look.background : colour,
    rim: hollow ? (role === "pinned" ? look.accent : colour) : look.background,
  };
}

/** `faint` is from 0 to 1: the less, the more links there are for the room. */
export function linkAttributes(model: Model, link: number, look: Look, faint: number) {
  const [one, two] = [model.roles[model.source[link]!], model.roles[model.target[link]!]];
  const membership = one === "cell" || two === "cell";
  const inner = one === "query" && two === "query";
  const heavy = model.heaviest > 0 ? Math.sqrt(model.weight[link]! / model.heaviest) : 0;
  const label = inner ? sameColour(model, link) : null;
  const [colour, alpha] = membership ? look.membership : label !== null ? [label, look.inner[1]] : inner ? look.inner : look.link;
  const size = membership ? 1.3 : 0.7 + (inner ? 3.2 : 2) * heavy * Math.sqrt(faint);
  return { size, color: premultiplied(colour, alpha * (membership ? Math.max(0.6, faint) : inner ? Math.sqrt(faint) : faint)), dashed: membership };
}
