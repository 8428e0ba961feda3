// The options of the store: their checks and defaults.
import { OptionError } from "@andante/core/errors";
import { checkKnownOptions, countOption, type KnownOptions } from "@andante/core/internal";

export interface RestateStoreOptions {
  /** Where Restate accepts calls: `http://restate:8080`. Several addresses are tried in turn. */
  readonly ingressUrl: string | readonly string[];
  /** Where Restate is administrated: `http://restate:9070`. It registers the endpoint and searches lists. */
  readonly adminUrl: string;
  /** Where Restate calls this process: `port` is listened on (0: any free one), `url` is how Restate reaches any node. */
  readonly endpoint: { readonly port: number; readonly url: string };
  /** Several applications share a server, each with a namespace of its own. Default: `andante`. */
  readonly namespace?: string;
  /** The number of objects that executions are spread over; fixed at the first start. Default: 2. */
  readonly shards?: number;
  /** Milliseconds after which the others take over the executions of a silent node. Default: 10 000. */
  readonly lease?: number;
  /** The token of Restate Cloud. Default: none. */
  readonly token?: string;
  /** The public keys of the Restate servers that may call the endpoint. Default: any caller may. */
  readonly identityKeys?: readonly string[];
}

export interface Settings extends Required<Omit<RestateStoreOptions, "ingressUrl" | "endpoint" | "token">> {
  readonly ingressUrls: readonly string[];
  readonly port: number;
  readonly endpointUrl: string;
  readonly token: string | undefined;
}

const knownOptions: KnownOptions<RestateStoreOptions> = {
  ingressUrl: true,
  adminUrl: true,
  endpoint: true,
  namespace: true,
  shards: true,
  lease: true,
  token: true,
  identityKeys: true,
};

export function readOptions(options: RestateStoreOptions): Settings {
  checkKnownOptions("restateStore", options, knownOptions);
  const { ingressUrl, adminUrl, endpoint, namespace = "andante", token, identityKeys = [] } = options;
  const ingressUrls = typeof ingressUrl === "string" ? [ingressUrl] : [...(ingressUrl ?? [])];
  if (ingressUrls.length === 0)
    throw new OptionError({ option: "ingressUrl", problem: "expected an address, or a list of addresses" });
  const { port, url } = endpoint ?? {};
  if (typeof namespace !== "string" || !/^[\w-]{1,100}$/.test(namespace))
    throw new OptionError({ option: "namespace", problem: "expected letters, digits, _ and -" });
  return {
    ingressUrls: ingressUrls.map((each) => address("ingressUrl", each)),
    adminUrl: address("adminUrl", adminUrl),
    port: port === 0 ? 0 : countOption("endpoint.port", port ?? Number.NaN, 0, 65_535),
    endpointUrl: address("endpoint.url", url),
    namespace,
    shards: countOption("shards", options.shards, 2, 256),
    lease: countOption("lease", options.lease, 10_000, 3_600_000),
    token,
    identityKeys,
  };
}

function address(option: string, url: unknown): string {
  if (typeof url !== "string" || !/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new OptionError({ option, problem: "expected http://host:port" });
  return url.replace(/\/+$/, "");
}

/** The location of the store for the log: without the token and any part of an address that may be secret. */
export function locationOf({ ingressUrls, namespace }: Settings): string {
  return `restate://${ingressUrls.map((url) => new URL(url).host).join(",")} (namespace ${namespace})`;
}
