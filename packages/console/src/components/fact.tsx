// A fact in the heading of a page: its value in bold, between words.
import type { ReactNode } from "react";

export function Fact({
  before,
  value,
  after,
  title,
}: {
  readonly before?: string;
  readonly value: ReactNode;
  readonly after?: ReactNode;
  readonly title?: string;
}) {
  return (
    <span className="fact" title={title}>
      {before} <b className="num">{value}</b> {after}
    </span>
  );
}
