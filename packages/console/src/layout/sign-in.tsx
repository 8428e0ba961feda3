// Sign-in with a token, when the server asks for one.
import { type FormEvent, useState } from "react";
import { consoleRoot } from "../api/andante.ts";
import { canBeSent, currentToken, keepToken } from "../api/token.ts";

/** `refusal` is undefined while a token is being checked. */
export function SignIn({ refusal }: { readonly refusal: string | undefined }) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string>();
  const message = problem ?? (currentToken() === null ? undefined : refusal);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const given = token.trim().replace(/^Bearer\s+/i, "");
    if (!canBeSent(given))
      return setProblem("This is not a whole token: it has a character that cannot be in one.");
    setProblem(undefined);
    keepToken(given);
  };
  return (
    <main className="sign-in">
      <title>Sign in · Andante</title>
      <div className="brand">
        <img src={`${consoleRoot}icon.svg`} alt="" />
        <span>Andante</span>
      </div>
      <form onSubmit={submit} className="card" style={{ padding: 20 }}>
        <h1 style={{ fontSize: 15 }}>Sign in</h1>
        <p className="muted" style={{ margin: "4px 0 16px" }}>
          This server asks for a token. Whoever runs it can give you one; it stays in this browser.
        </p>
        {message !== undefined && (
          <p className="problem" role="alert" style={{ marginBottom: 12 }}>
            {message}
          </p>
        )}
        <label htmlFor="token" style={{ fontWeight: 560 }}>
          Token
        </label>
        <input
          id="token"
          className="field mono"
          type="password"
          autoComplete="off"
          placeholder="eyJhbGciOi…"
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        <button
          type="submit"
          className="btn primary"
          style={{ marginTop: 16 }}
          disabled={token.trim() === ""}
        >
          Sign in
        </button>
      </form>
    </main>
  );
}
