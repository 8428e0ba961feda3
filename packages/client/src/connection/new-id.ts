// Ids of executions: UUIDs of version 7, which sort by their creation time in a store.
//
// Not `crypto.randomUUID`: it is another version, and browsers hide it from pages without TLS.

export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  const random = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const time = Date.now().toString(16).padStart(12, "0");
  const variant = (8 + ((bytes[9] ?? 0) & 3)).toString(16);
  const groups = [
    time.slice(0, 8),
    time.slice(8),
    `7${random.slice(0, 3)}`,
    `${variant}${random.slice(3, 6)}`,
  ];
  return [...groups, random.slice(6, 18)].join("-");
}
