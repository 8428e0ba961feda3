// A piece of the API description.
export type JsonObject = Record<string, unknown>;

export const schemaPath = (id: string): string => `#/components/schemas/${id}`;
