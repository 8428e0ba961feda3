// The hosts that requests may be sent to: a page whose name an attacker points at this server (DNS rebinding) is, to a
// browser, of the same origin as the server, but its requests name the attacker's host.
import { OptionError } from "@andante/core/errors";
import { HostNotAllowedError } from "../errors/request-errors.ts";

const defaultPorts = new Set(["80", "443"]);

interface Host {
  readonly name: string;
  /** Undefined where the host has none. */
  readonly port: string | undefined;
}

/** Throws where the `Host` of a request is not among the allowed ones. */
export type HostCheck = (host: string | null) => void;

export function createHostCheck(allowed: readonly string[]): HostCheck {
  if (!Array.isArray(allowed) || allowed.length === 0) throw refusedOption("expected a list of host names");
  const hosts = allowed.map((entry: unknown) => {
    const host = typeof entry === "string" ? parseHost(entry) : undefined;
    if (host !== undefined) return host;
    throw refusedOption(
      `expected a host such as "api.example.com" or "localhost:3141", not ${JSON.stringify(entry)}`,
    );
  });
  return (given) => {
    const asked = parseHost(given ?? "");
    // Browsers leave out the port that is the default of their scheme, which a proxy in front may have changed.
    const isAllowed = ({ name, port }: Host) =>
      name === asked?.name &&
      (port === undefined || port === asked.port || (asked.port === undefined && defaultPorts.has(port)));
    if (!hosts.some(isAllowed)) throw new HostNotAllowedError({ host: given ?? "" });
  };
}

function refusedOption(problem: string): OptionError {
  return new OptionError({ option: "allowedHosts", problem });
}

/** A host as a browser writes it, or undefined. */
function parseHost(text: string): Host | undefined {
  const [, given, port] = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]\\*,]+?)\.?(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const name = given === undefined ? undefined : URL.parse(`http://${given}`)?.hostname;
  return name === undefined ? undefined : { name, port };
}
