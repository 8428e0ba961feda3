// A chart of the executions started in each interval: failed ones, and the others, stacked.
import type { ActivityPoint } from "@andante/client";
import { memo } from "react";
import { clock, plural } from "../../format/numbers.ts";
import type { Search } from "../../layout/search.ts";
import { barParts } from "./bar-parts.ts";
import { useActivityOf } from "./list-counts.ts";

const height = 48;

export const OverTime = memo(function OverTime({ search }: { readonly search: Search }) {
  const { activity, label } = useActivityOf(search);
  const points = activity?.points ?? [];
  const most = Math.max(1, ...points.map((point) => barParts(point).whole));
  const total = points.reduce((sum, point) => sum + point.started, 0);
  const part = activity?.complete === false ? "; only the newest are counted" : "";
  const words = `${plural(total, "execution")} started, ${label}${part}`;
  return (
    <div className="over-time" role="img" aria-label={words} title={words}>
      {points.map((point) => (
        <Bar key={point.at} point={point} most={most} />
      ))}
      <small className="faint">started, {label}</small>
    </div>
  );
});

function Bar({ point, most }: { readonly point: ActivityPoint; readonly most: number }) {
  const { started, failed, at } = point;
  const { fine, bad } = barParts(point);
  const tall = (part: number) => ({ height: part === 0 ? 0 : Math.max(2, (part / most) * height) });
  return (
    <span title={`${clock(at)}: ${started} started, ${failed} failed`}>
      <i style={tall(fine)} />
      {bad > 0 && <i className="bad" style={tall(bad)} />}
    </span>
  );
}
