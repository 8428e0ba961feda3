// Tokens of every kind, and the provider that takes them.
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

/** Every kind of token with how the contract refuses it on a protected route; undefined lets the caller in. */
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
