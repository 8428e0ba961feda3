// Responses that are the same for many requests: the body and each compressed form are built once.
//
// Anonymous callers may request pages and scripts. Compressed for each request, a script of 1.4 MB took 90 ms of a
// thread and 4 MB of memory each time; a thousand connections took 3.7 GB.
import { RouteResponse } from "./route-response.ts";

/** A response that is sent many times. `compress` keeps its compressed forms here. */
export class StaticResponse extends RouteResponse {
  readonly #forms = new Map<string, Promise<RouteResponse>>();

  /** The form of this name; concurrent requests share one promise. */
  form(name: string, make: () => Promise<RouteResponse>): Promise<RouteResponse> {
    const made = this.#forms.get(name) ?? make();
    this.#forms.set(name, made);
    made.catch(() => this.#forms.delete(name));
    return made;
  }
}

/** Longer keys come from unusual addresses: their response is built for each request. */
const maxKeyLength = 512;

/** Static responses by key: the `most` that were requested last. */
export class StaticResponses {
  readonly #kept = new Map<string, Promise<StaticResponse>>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** The response of this key, which must identify everything that `build` depends on. Failures are not cached. */
  get(key: string, build: () => RouteResponse | Promise<RouteResponse>): Promise<StaticResponse> {
    if (key.length > maxKeyLength) return toStatic(build);
    const response = this.#kept.get(key) ?? toStatic(build);
    this.#kept.delete(key);
    this.#kept.set(key, response);
    response.catch(() => this.#kept.delete(key));
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#most && oldest !== undefined) this.#kept.delete(oldest);
    return response;
  }
}

/** The static responses of one app. Each kind has its own cache: clients choose the hosts and paths of some. */
export interface BuiltResponses {
  /** By the definitions that the caller may see. */
  readonly descriptions: StaticResponses;
  /** By the visible definitions, with a placeholder for the origin. */
  readonly landingTemplates: StaticResponses;
  /** By the visible definitions and the origin. */
  readonly landingPages: StaticResponses;
  /** By the depth of the address. */
  readonly consolePages: StaticResponses;
  /** The same for every caller. */
  readonly files: StaticResponses;
}

export function builtResponses(): BuiltResponses {
  return {
    descriptions: new StaticResponses(20),
    landingTemplates: new StaticResponses(20),
    landingPages: new StaticResponses(50),
    consolePages: new StaticResponses(20),
    files: new StaticResponses(10),
  };
}

async function toStatic(build: () => RouteResponse | Promise<RouteResponse>): Promise<StaticResponse> {
  const built = await build();
  return new StaticResponse(built.body, built);
}
