// A piece of the API description.
export type JsonObject = Record<string, unknown>;

export const schemaPath = (id: string): string => `#/components/schemas/${id}`;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
