// Responses that are the same for many requests: the body is built once, and so is each compressed form of it.
//
// Anonymous callers may ask for pages and scripts. Compressed for each request, a script of 1.4 MB took 90 ms of a thread
// and 4 MB of memory each time; a thousand connections took 3.7 GB.
import { RouteResponse } from "./route-response.ts";

/** A response that is sent many times. `compress` keeps its compressed forms here. */
export class StaticResponse extends RouteResponse {
  readonly #forms = new Map<string, Promise<RouteResponse>>();

  /** The form of this name; requests that ask for it while it is made wait for the same one. */
  form(name: string, make: () => Promise<RouteResponse>): Promise<RouteResponse> {
    const made = this.#forms.get(name) ?? make();
    this.#forms.set(name, made);
    made.catch(() => this.#forms.delete(name));
    return made;
  }
}

/** Static responses by key: at most `most`, those that were requested last. */
export class StaticResponses {
  readonly #kept = new Map<string, Promise<StaticResponse>>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** The response of this key, which has to name everything that `build` depends on. A failure is not kept. */
  get(key: string, build: () => RouteResponse | Promise<RouteResponse>): Promise<StaticResponse> {
    const response = this.#kept.get(key) ?? toStatic(build);
    this.#kept.delete(key);
    this.#kept.set(key, response);
    response.catch(() => this.#kept.delete(key));
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#most && oldest !== undefined) this.#kept.delete(oldest);
    return response;
  }
}

async function toStatic(build: () => RouteResponse | Promise<RouteResponse>): Promise<StaticResponse> {
  const built = await build();
  return new StaticResponse(built.body, built);
}
