// The error page: shows the error and a retry button. The frame around it stays.
import type { ErrorComponentProps } from "@tanstack/react-router";
import { Problem } from "../components/problem.tsx";

export function Broken({ error }: ErrorComponentProps) {
  return (
    <div className="padded">
      <Problem error={error} what="This page could not be shown" />
      <p style={{ marginTop: 12 }}>
        <button type="button" className="btn" onClick={() => location.reload()}>
          Try again
        </button>
      </p>
    </div>
  );
}
