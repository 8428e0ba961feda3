// The sign-in, on a page of the host or with a token: a page of its own at first, a bar above the open page when the token
// expires.
import { createClient } from "@andante/client";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { consoleRoot, serverRoot } from "../api/andante.ts";
import { serverQuery } from "../api/queries.ts";
import { useShared } from "../api/shared.ts";
import { openSignIn, signInAddress, signInProblem, signInUrl } from "../api/sign-in.ts";
import { canBeSent, expiryOf, keepToken, useToken } from "../api/token.ts";
import { useNow } from "../components/time.tsx";
import { age } from "../format/numbers.ts";

/** Milliseconds before the end of a token at which its user is warned. */
const warnBefore = 120_000;

/**
 * The way to the page of the host, where there is one, and the text field of a token. `onLeave` receives the address of that
 * page; `onGiven` receives a token that can be sent, and returns the reason for a refusal.
 */
function TokenForm({
  label,
  button,
  refusal,
  autoFocus,
  className,
  onLeave,
  onGiven,
  children,
}: {
  readonly label: string;
  readonly button: string;
  readonly refusal?: string | undefined;
  readonly autoFocus?: boolean;
  readonly className: string;
  readonly onLeave: (address: string) => void;
  readonly onGiven: (token: string) => Promise<string | undefined>;
  /** Content above the field. */
  readonly children: ReactNode;
}) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string>();
  const message = problem ?? refusal;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const given = token.trim().replace(/^Bearer\s+/i, "");
    if (!canBeSent(given))
      return setProblem("This is not a whole token: it has a character that cannot be in one.");
    setProblem(undefined);
    void onGiven(given).then(setProblem);
  };
  const field = (
    <>
      <label htmlFor="token">{label}</label>
      <input
        id="token"
        className="field mono"
        type="password"
        autoComplete="off"
        placeholder="eyJhbGciOi…"
        // biome-ignore lint/a11y/noAutofocus: the page of the sign-in has no other field
        autoFocus={autoFocus}
        value={token}
        onChange={(event) => setToken(event.target.value)}
      />
      <button
        type="submit"
        className={signInUrl === undefined ? "btn primary" : "btn"}
        disabled={token.trim() === ""}
      >
        {signInUrl === undefined ? button : "Use this token"}
      </button>
    </>
  );
  return (
    <form onSubmit={submit} className={className}>
      {children}
      {message !== undefined && (
        <p className="problem" role="alert">
          {message}
        </p>
      )}
      {signInUrl === undefined ? (
        field
      ) : (
        <>
          <button
            type="button"
            className="btn primary"
            // biome-ignore lint/a11y/noAutofocus: the page of the sign-in has no other purpose
            autoFocus={autoFocus}
            onClick={() => onLeave(signInAddress())}
          >
            Sign in
          </button>
          <details>
            <summary className="muted">Use a token instead</summary>
            {field}
          </details>
        </>
      )}
    </form>
  );
}

/** The page of the sign-in. `refusal` is undefined while a token is being checked. */
export function SignIn({ refusal }: { readonly refusal: string | undefined }) {
  const token = useToken();
  const problem = useShared(signInProblem);
  return (
    <main className="sign-in">
      <title>Sign in · Andante</title>
      <div className="brand">
        <img src={`${consoleRoot}icon.svg`} alt="" />
        <span>Andante</span>
      </div>
      <TokenForm
        label="Token"
        button="Sign in"
        className="card token-form"
        autoFocus
        refusal={token === null ? problem : refusal}
        onLeave={(address) => location.assign(address)}
        onGiven={async (given) => void keepToken(given)}
      >
        <h1>Sign in</h1>
        <p className="muted">
          {signInUrl === undefined
            ? "This server asks for a token. Its operator can give you one; it stays in this browser."
            : "You sign in on another page, which leads back here."}
        </p>
      </TokenForm>
    </main>
  );
}

/**
 * Warns before the token expires and takes another one, also after its end. The page below stays as it is, with the text
 * that was typed into it. `isRefused`: the server does not accept the token any more.
 */
export function Expiry({ isRefused }: { readonly isRefused: boolean }) {
  const token = useToken();
  const client = useQueryClient();
  const ends = token === null ? undefined : expiryOf(token);
  const left = (ends ?? Number.POSITIVE_INFINITY) - useNow(ends !== undefined);
  const isPast = left <= 0;
  // The server decides: its clock may differ from the browser's.
  useEffect(() => {
    if (isPast) void client.invalidateQueries({ queryKey: serverQuery.queryKey });
  }, [isPast, client]);
  if (!isRefused && left > warnBefore) return null;
  const renew = async (given: string) => {
    const server = createClient({ baseUrl: serverRoot, token: given, retryFor: 0 });
    try {
      await server.server();
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    keepToken(given);
    return undefined;
  };
  return (
    <TokenForm
      label="New token"
      button="Stay signed in"
      className={isRefused ? "expiry token-form over" : "expiry token-form"}
      // In another tab, so that this page keeps the text in it.
      onLeave={openSignIn}
      onGiven={renew}
    >
      <p>
        <b role="alert">{isRefused ? "Your sign-in has ended." : "Your sign-in ends soon."}</b>{" "}
        {isRefused
          ? "Your text is still here: sign in again to continue."
          : `It ends in ${age(left)}: a new token keeps this page open.`}
      </p>
    </TokenForm>
  );
}
