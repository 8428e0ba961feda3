// One log line for a person at a terminal. (pino-pretty does more and brings thirteen packages.)

const colours: Readonly<Record<string, number>> = { debug: 90, info: 36, warn: 33, error: 31 };
const shade = (code: number, text: string) => `\u001b[${code}m${text}\u001b[0m`;

/** A JSON line of the logger as `12:30:01.250 warn  message  key=value`, a stack below it. */
export function prettyLine(json: string): string {
  const line: unknown = JSON.parse(json);
  if (typeof line !== "object" || line === null) return json;
  const { time, level, msg, err, ...fields }: Record<string, unknown> = { ...line };
  const name = String(level);
  const parts = [
    shade(90, String(time).slice(11, 23)),
    shade(colours[name] ?? 0, name.padEnd(5)),
    // A message may come from a caller: control characters would let it steer the terminal.
    visible(String(msg ?? "")),
    ...Object.entries(fields).map(
      ([key, value]) => `${shade(90, `${visible(key)}=`)}${visible(textOf(value))}`,
    ),
  ];
  return `${parts.join(" ")}\n${stackOf(err)}`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function visible(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ");
}

function stackOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "";
  const { stack, name, message }: Record<string, unknown> = { ...error };
  const text = typeof stack === "string" ? stack : `${name}: ${message}`;
  return `${text
    .split("\n")
    .map((line) => `    ${visible(line.trim())}`)
    .join("\n")}\n`;
}
