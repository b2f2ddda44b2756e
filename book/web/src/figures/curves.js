// What a point of a curve is: the nearest to a pointer; arrow keys go along the curve, up and down to other curves.
import { clip, pointed } from "./pointed.js";

/** A field over axes: `place({left, top, width, height}, {label, curves, tell})`; `points` of curves are shares of 1. */
export function curves(element) {
  const place = pointed(element, "posenc-dot");
  return (share, { label, curves, tell }) => {
    const hold = ([wanted, index]) => {
      const curve = clip(wanted, curves.length);
      return [curve, clip(index, curves[curve].x.length)];
    };
    const nearest = (numbers, distance) => {
      const distances = numbers.map(distance);
      return distances.indexOf(Math.min(...distances));
    };
    const near = (x, y, ratio) => {
      const away = ([left, top]) => Math.hypot((left - x) * ratio, top - y);
      const indices = curves.map(({ points }) => nearest(points, away));
      const curve = nearest(curves, ({ points }, i) => away(points[indices[i]]));
      return [curve, indices[curve]];
    };
    place(share, {
      label,
      count: curves.reduce((sum, { x }) => sum + x.length, 0),
      hold,
      near,
      go: ([curve, index], [down, right]) => {
        const [to] = hold([curve + down, 0]);
        const [left] = curves[curve].points[index];
        const at = to === curve ? index : nearest(curves[to].points, (point) => Math.abs(point[0] - left));
        return hold([to, at + right]);
      },
      tell: ([curve, index]) => {
        const before = curves.slice(0, curve).reduce((sum, { x }) => sum + x.length, 0);
        const [left, top] = curves[curve].points[index];
        return { text: tell(curves[curve], index), number: before + index, left, top, width: 0, height: 0 };
      },
    });
  };
}
