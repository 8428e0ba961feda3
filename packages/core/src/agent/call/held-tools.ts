// Tools that hold something open, such as connections: closed with the last Andante that uses them.

/** An Andante retains what its agents hold when it is made, and releases it when it has closed. */
export interface HeldTools {
  retain(): void;
  release(): Promise<void>;
}

export function isHeld(tools: unknown): tools is HeldTools {
  return typeof tools === "function" && "retain" in tools && "release" in tools;
}
