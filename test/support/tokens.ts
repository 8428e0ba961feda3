// What the authentication tests share: tokens of every kind, and requests that nobody normalises on their way.
import { once } from "node:events";
import { connect } from "node:net";
import { createJWT, type JwtAuthOptions, jwtAuth } from "@andante/server";

export const secret = "a secret of more than thirty-two bytes";
export const audience = "andante-tests";

/** The provider of these tests: the contract's options, `id` from `sub`. */
export function provider(options: Partial<JwtAuthOptions> = {}) {
  const mapUser: JwtAuthOptions["mapUser"] = ({ sub, roles }) => ({ id: sub, roles });
  return jwtAuth({ secret, mapUser, verifyOptions: { audience }, ...options });
}

/** A good token for this user. */
export function tokenFor(sub: string, options: { expiresIn?: string; audience?: string } = {}) {
  return createJWT({ sub, roles: ["reader"] }, secret, { audience, ...options });
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Every kind of token with the contract's answer to it on a protected route; undefined lets the caller in. */
export async function tokenKinds() {
  return [
    { kind: "no token", headers: {}, refusal: "Authentication required" },
    { kind: "another scheme", headers: { authorization: "Basic YTpi" }, refusal: "Authentication required" },
    { kind: "a bad token", headers: bearer("not.a.token"), refusal: /^Invalid token: ./ },
    {
      kind: "an expired token",
      headers: bearer(await tokenFor("ada", { expiresIn: "-1s" })),
      refusal: "Token expired",
    },
    {
      kind: "a token for another audience",
      headers: bearer(await tokenFor("ada", { audience: "other" })),
      refusal: /^Invalid token: ./,
    },
    { kind: "a good token", headers: bearer(await tokenFor("ada")), refusal: undefined },
  ];
}

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends exactly these lines; `fetch` would tidy the path first. */
export async function rawRequest(url: string, lines: readonly string[], body = ""): Promise<RawAnswer> {
  const { hostname, port, host } = new URL(url);
  const [target = "", ...headers] = lines;
  const hosts = headers.some((line) => /^host:/i.test(line)) ? [] : [`host: ${host}`];
  const length =
    body === "" ? [] : ["content-type: application/json", `content-length: ${Buffer.byteLength(body)}`];
  const socket = connect(Number(port), hostname);
  socket.end(
    [`${target} HTTP/1.1`, ...hosts, "connection: close", ...headers, ...length, "", body].join("\r\n"),
  );
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  await once(socket, "close");
  const [head = "", ...rest] = text.split("\r\n\r\n");
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), head, body: rest.join("\r\n\r\n") };
}
