// What a card shows before it has data: that it is on its way, or why it cannot be read.
import { Problem } from "../../components/problem.tsx";

export function NotYet({ error, what }: { readonly error: unknown; readonly what: string }) {
  return (
    <div style={{ padding: 16 }}>
      {error === null ? <span className="skeleton" /> : <Problem error={error} what={what} />}
    </div>
  );
}
