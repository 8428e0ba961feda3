// The content of a card without data: a skeleton, or the error.
import { Problem } from "../../components/problem.tsx";

export function NotYet({ error, what }: { readonly error: unknown; readonly what: string }) {
  return (
    <div style={{ padding: 16 }}>
      {error === null ? <span className="skeleton" /> : <Problem error={error} what={what} />}
    </div>
  );
}
