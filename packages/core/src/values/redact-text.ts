// Removes secrets from every text and value that leaves the process: log lines, errors, spans.
//
// Texts hold input of callers that are not authenticated yet, so every pattern takes time linear in the text: each begins
// with a fixed word and ends with a run of one class of characters that needs nothing after it, so that no run is scanned
// from more than one beginning.

const redacted = "[redacted]";

/** More of a text is left out. */
const maxTextLength = 8_000;

// Names that are followed by a secret. Any prefix is accepted (`client_secret`, `PGPASSWORD`).
const passwordName = "pass(?:word|wd|phrase)|pwd";
const secretName =
  `${passwordName}|authorization|secret|token|credentials?|` +
  "(?:access|account|api|client|encryption|private|secret|signing)[_-]?key";
const quotedOrBare = `"[^"]*"?|'[^']*'?|[^\\s&#"',;]+`;
// After a colon prose may follow ("token: expected a string"): a bare word there is a secret only if a digit is in it.
const afterColon = `"[^"]*"?|'[^']*'?|(?=[^\\s\\d"',;]{0,64}\\d)[^\\s"',;]{4,}`;
// Without a space it may be an id ("secret:v2"): there a bare word is a secret only if it is as long as a key, or if the
// name can only be that of a password.
const afterBareColon = `"[^"]*"?|'[^']*'?|(?=[a-z+/=._~-]{0,64}\\d)[\\w+/=.~-]{20,}[^\\s"',;]*`;
const scheme = "(?:bearer|basic|digest|negotiate|token)\\s{1,4}";

/** Case-insensitive; the first group is kept. */
const named = new RegExp(
  [
    // `authorization: Basic …`, and a bearer token anywhere.
    `(authorization["']?\\s{0,4}[:=]\\s{0,4}["']?${scheme})[^\\s"',;]+`,
    // A word without a digit after it is prose, unless it is very long.
    "(\\bbearer\\s{1,4})(?:(?=[a-z.~+/=_-]{0,64}\\d)[\\w.~+/=-]{8,}|[\\w.~+/=-]{16,})",
    // A header: pairs of names and values, to the end of the line. Another value is a secret as after other names.
    `(\\bcookie["']?\\s{0,4}:\\s{0,4})["']?[^\\s=;:"']{1,100}=[^\\r\\n]+`,
    `(\\bcookie["']?\\s{0,4}=\\s{0,4})(?:${quotedOrBare})`,
    `(\\bcookie["']?\\s{0,4}:\\s{0,4})(?:${afterColon})`,
    `((?:${secretName})["']?\\s{0,4}=\\s{0,4})(?:${quotedOrBare})`,
    `((?:${secretName})(?:["']\\s{0,4}:\\s{0,4}|\\s{1,4}:\\s{0,4}|:\\s{1,4}))(?:${afterColon})`,
    `((?:${passwordName}):)(?:"[^"]*"?|'[^']*'?|[^\\s"',;]+)`,
    `((?:${secretName}):)(?:${afterBareColon})`,
    // Names that are too common to be secret elsewhere.
    "([?&](?:key|signature|sig|code)=)[^&#\\s\"']+",
    // User and password in an address, as connection strings have them.
    "(:\\/\\/)[^\\s/\"'<>]*@",
  ].join("|"),
  "gi",
);

/** Secrets that are recognised by their shape. */
const shaped = new RegExp(
  [
    // OpenAI, Anthropic, Stripe and others who followed them.
    "\\b[psr]k[-_][\\w-]{16,}",
    "\\b(?:gsk|hf|r8|npm|whsec|dckr_pat|github_pat|gh[oprsu])_\\w{16,}",
    "\\b(?:xai|pplx|glpat|xox[a-z])-[\\w-]{10,}",
    "\\bAIza[\\w-]{30,}",
    "\\b(?:AKIA|ASIA)[A-Z\\d]{12,}",
    "\\bya29\\.[\\w-]{16,}",
    "\\bSG\\.[\\w-]{16,}(?:\\.[\\w-]+)*",
    // A JSON Web Token: `eyJ` is `{"` in base64.
    "eyJ[\\w-]{16,}(?:\\.[\\w-]+)*",
    "-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?",
  ].join("|"),
  "g",
);

// Most texts hold none of these: searching for plain words costs a tenth of a pattern, which every log line would pay.
const hints = (
  "= pass pwd secret token credential key bearer authorization cookie " +
  "sk- sk_ pk- pk_ rk- rk_ hf_ r8_ npm_ whsec_ pat_ gh xai- pplx- glpat- xox aiza akia asia ya29. sg. eyj"
).split(" ");

/** The text, bounded and without secrets. */
export function redactText(given: string): string {
  return withoutSecrets(
    given.length <= maxTextLength ? given : `${given.slice(0, maxTextLength)}… (${given.length} characters)`,
  );
}

/** The text without secrets, at any length. Idempotent. */
export function withoutSecrets(text: string): string {
  const lower = text.toLowerCase();
  if (!hints.some((hint) => lower.includes(hint)) && !mayNameUser(text)) return text;
  return text.replace(named, keepName).replace(shaped, redacted);
}

/** Whether there may be an address with a user in it. Most have none, such as the one of this server. */
function mayNameUser(text: string): boolean {
  return text.includes("://") && text.includes("@");
}

/** Keeps the name of the secret; an address keeps its `@`. */
function keepName(match: string, ...groups: unknown[]): string {
  const name = groups.find((group) => typeof group === "string" && match.startsWith(group));
  return `${name}${redacted}${name === "://" ? "@" : ""}`;
}

// Compared with the key in lower case and without "-" and "_": `apiKey`, `api_key` and `X-Api-Key` are one. A key that ends
// in "token" holds one; `totalTokens` and `maxOutputTokens` are numbers of tokens and stay.
const secretKeys =
  /(?:authorization|cookie|password|passwd|passphrase|secret|apikey|privatekey|credentials?|token)$/;

/** Whether a value under this key is a secret. */
export function isSecretKey(key: string): boolean {
  return secretKeys.test(key.replaceAll(/[-_]/g, "").toLowerCase());
}

/** The value as JSON text without secrets: those in its texts, and values whose key names one. Throws as JSON.stringify does. */
export function jsonWithoutSecrets(value: unknown): string | undefined {
  return JSON.stringify(value, (key, each: unknown) => {
    if (isSecretKey(key) && each !== null) return redacted;
    return typeof each === "string" ? withoutSecrets(each) : each;
  });
}
