// Whose conversation a statement may touch, as its two parameters: is it limited to an owner, and to which one.

export const owned = "(? = 0 or user_id is ?)";

export function ownerOf(userId: string | null | undefined): [limited: number, userId: string | null] {
  return userId === undefined ? [0, null] : [1, userId];
}
