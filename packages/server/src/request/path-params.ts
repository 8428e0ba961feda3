// The parameters of a route's path.
import type { Context } from "hono";

export type Params = Readonly<Record<string, string>>;

/** Reads the parameters that a path such as `/workflows/:id` names, decoded. */
export function paramReader(path: string): (http: Context) => Params {
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name = ""]) => name);
  return ({ req }) => {
    const params: Record<string, string> = {};
    for (const name of names) {
      const value = req.param(name);
      if (value !== undefined) params[name] = value;
    }
    return params;
  };
}
