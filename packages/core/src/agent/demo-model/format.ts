// The string formats of JSON Schema and of zod that the demo model knows: sample values and a check for each.
import { isIPv4, isIPv6 } from "node:net";

interface Format {
  /** Samples, best first; another variant gives another value where it can, so that a list can hold different ones. */
  samples: (variant: number) => string[];
  /** Whether a text has the format. Never asked about more than 2000 characters. */
  check: (text: string) => boolean;
}

const email: Format = {
  samples: (variant) => [`demo${suffix(variant)}@example.com`, "a@b.co"],
  check: (text) => /^[\w+-]+(?:\.[\w+-]+)*@(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}$/i.test(text),
};
const uri: Format = {
  samples: (variant) => [`https://example.com/demo${suffix(variant)}`, "https://a.co"],
  check: (text) => URL.canParse(text),
};
const uuid: Format = {
  samples: (variant) => [`00000000-0000-4000-8000-${digits(variant, 12)}`],
  check: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.test(text),
};

const formats: ReadonlyMap<string, Format> = new Map<string, Format>([
  ["email", email],
  ["idn-email", email],
  ["uri", uri],
  ["url", uri],
  ["iri", uri],
  ["uuid", uuid],
  ["guid", uuid],
  [
    "date-time",
    {
      samples: (variant) => [`2026-01-${day(variant)}T09:00:00Z`, `2026-01-${day(variant)}T09:00:00`],
      check: (text) =>
        /^[\d-]{10}T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?$/.test(text) && startsWithDay(text),
    },
  ],
  [
    "date",
    {
      samples: (variant) => [`2026-01-${day(variant)}`],
      check: (text) => text.length === 10 && startsWithDay(text),
    },
  ],
  [
    "time",
    {
      samples: (variant) => [
        `09:00:${digits(variant % 59, 2)}Z`,
        `09:00:${digits(variant % 59, 2)}`,
        "09:00",
      ],
      check: (text) => /^[0-2]\d:[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?$/.test(text),
    },
  ],
  [
    "duration",
    { samples: (variant) => [`P${variant + 1}D`], check: (text) => /^P[\dYMWDTHS.]+$/.test(text) },
  ],
  [
    "uri-reference",
    { samples: (variant) => [`/demo${suffix(variant)}`], check: (text) => /^\S+$/.test(text) },
  ],
  [
    "hostname",
    {
      samples: (variant) => [`demo${suffix(variant)}.example.com`, "a.co"],
      check: (text) => text.length < 254 && /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/i.test(text),
    },
  ],
  ["ipv4", { samples: (variant) => [`192.0.2.${(variant % 254) + 1}`], check: isIPv4 }],
  ["ipv6", { samples: (variant) => [`2001:db8::${(variant % 9_999) + 1}`], check: isIPv6 }],
  [
    "cidrv4",
    { samples: (variant) => [`192.0.${variant % 256}.0/24`], check: (text) => isNetwork(text, isIPv4, 32) },
  ],
  [
    "cidrv6",
    { samples: (variant) => [`2001:${variant % 9_999}::/32`], check: (text) => isNetwork(text, isIPv6, 128) },
  ],
  [
    "base64",
    { samples: () => ["ZGVtbw=="], check: (text) => text.length % 4 === 0 && /^[\w+/]*={0,2}$/.test(text) },
  ],
  [
    "base64url",
    { samples: () => ["ZGVtbw"], check: (text) => text.length % 4 !== 1 && /^[\w-]*$/.test(text) },
  ],
  [
    "nanoid",
    { samples: (variant) => [`demo-${digits(variant, 16)}`], check: (text) => /^[\w-]{21}$/.test(text) },
  ],
  [
    "cuid",
    { samples: (variant) => [`cdemo${digits(variant, 20)}`], check: (text) => /^c[0-9a-z]{6,}$/i.test(text) },
  ],
  [
    "cuid2",
    { samples: (variant) => [`demo${digits(variant, 20)}`], check: (text) => /^[0-9a-z]+$/.test(text) },
  ],
  [
    "ulid",
    {
      samples: (variant) => [digits(variant, 26)],
      check: (text) => /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i.test(text),
    },
  ],
  ["xid", { samples: (variant) => [digits(variant, 20)], check: (text) => /^[0-9a-v]{20}$/i.test(text) }],
  ["ksuid", { samples: (variant) => [digits(variant, 27)], check: (text) => /^[0-9a-z]{27}$/i.test(text) }],
  ["emoji", { samples: () => ["🎵"], check: (text) => /^\p{Extended_Pictographic}+$/u.test(text) }],
  [
    "e164",
    {
      samples: (variant) => [`+1415555${digits(variant % 9_999, 4)}`],
      check: (text) => /^\+[1-9]\d{6,14}$/.test(text),
    },
  ],
  [
    "jwt",
    {
      // {"alg":"HS256","typ":"JWT"}, {"sub":"demo"} and the word "demo" for a signature.
      samples: () => ["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJkZW1vIn0.ZGVtbw"],
      check: (text) => /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(text),
    },
  ],
]);

/** Samples that have at least `minLength` characters where the format can be lengthened (an address, a link). */
export function formatSamples(format: string, variant: number, minLength: number): string[] {
  const found = formats.get(format)?.samples(variant) ?? [];
  const first = found[0];
  if (first === undefined || first.length >= minLength) return found;
  const missing = "x".repeat(minLength - first.length);
  return [format.endsWith("email") ? missing + first : first + missing];
}

/** A format that is not known accepts any text, as JSON Schema says. */
export function hasFormat(format: string, text: string): boolean {
  const known = formats.get(format);
  return known === undefined || (text.length <= 2_000 && known.check(text));
}

function isNetwork(text: string, isAddress: (text: string) => boolean, most: number): boolean {
  const [address = "", bits = "", ...more] = text.split("/");
  return more.length === 0 && isAddress(address) && /^\d{1,3}$/.test(bits) && Number(bits) <= most;
}

function startsWithDay(text: string): boolean {
  const date = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text.slice(0, 10));
}

function suffix(variant: number): string {
  return variant === 0 ? "" : String(variant + 1);
}

function day(variant: number): string {
  return digits(variant % 28, 2);
}

function digits(variant: number, length: number): string {
  return String(variant + 1).padStart(length, "0");
}
