// A sentence of the server with ISO times in it, which are shown as local times.
import { age } from "../format/numbers.ts";
import { Clock, useNow } from "./time.tsx";

const isoTime = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)/;

export function Sentence({
  text,
  distances = false,
}: {
  readonly text: string;
  /** Each time is followed by its distance from now. */
  readonly distances?: boolean;
}) {
  return text.split(isoTime).map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one text
      <span key={index} className="num">
        <Clock time={piece} />
        {distances && <Distance time={piece} />}
      </span>
    ),
  );
}

/** " (2 h 14 min ago)" or " (in 3 d 4 h)". */
function Distance({ time }: { readonly time: string }) {
  const passed = useNow() - Date.parse(time);
  const words = age(Math.abs(passed));
  return words === "now" ? " (now)" : passed > 0 ? ` (${words} ago)` : ` (in ${words})`;
}
