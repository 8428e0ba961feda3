// Numbers as hexadecimal digits. `toString(16)` leaves compiled code for each number, which an id cannot afford.

const pairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** The digits of the last `bytes` bytes of a whole number. */
export function hexadecimal(value: number, bytes: number): string {
  let digits = "";
  for (let rest = value, left = bytes; left > 0; left--) {
    const above = Math.floor(rest / 256);
    digits = `${pairs[rest - above * 256]}${digits}`;
    rest = above;
  }
  return digits;
}

const inOrder = "0123456789abcdef";

/** The number of one digit. */
export function digitValue(digit: string): number {
  return inOrder.indexOf(digit);
}
