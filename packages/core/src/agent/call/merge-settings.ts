// The settings of one call: the caller's, within the limits that the host set on the agent.
import { InvalidOptionError } from "../../errors/index.ts";
import { isRecord, propertyOf } from "../../values/fields.ts";
import {
  type CallSettings,
  pickSettings,
  type Reasoning,
  reasoningLevels,
  settingRanges,
} from "./call-settings.ts";

/** Options of providers that callers may set, by the provider's name. */
export type AllowedProviderOptions = Readonly<Record<string, readonly string[]>>;

type ProviderOptions = NonNullable<CallSettings["providerOptions"]>;

/** The host's settings, changed as far as the caller may: no number above the host's, nothing of the host's removed. */
export function mergeSettings(own: CallSettings, given: CallSettings): CallSettings {
  const merged: Record<string, unknown> = { ...pickSettings(own) };
  for (const name of Object.keys(settingRanges)) {
    const [mine, asked] = [propertyOf(own, name), propertyOf(given, name)];
    if (typeof asked !== "number") continue;
    if (typeof mine !== "number") merged[name] = asked;
    // A seed is not a measure: one that the host set stays.
    else if (name !== "seed") merged[name] = Math.min(mine, asked);
  }
  const reasoning = mergeReasoning(own.reasoning, given.reasoning);
  const stopSequences = [...new Set([...(own.stopSequences ?? []), ...(given.stopSequences ?? [])])];
  const providerOptions = mergeProviderOptions(own.providerOptions, given.providerOptions);
  return { ...merged, reasoning, ...(stopSequences.length > 0 && { stopSequences }), providerOptions };
}

/** The lower level. The provider's default has no place among the levels, so the host's setting stays. */
function mergeReasoning(own?: Reasoning, given?: Reasoning): Reasoning | undefined {
  if (own === undefined || given === undefined) return own ?? given;
  if (own === "provider-default" || given === "provider-default") return own;
  return reasoningLevels.indexOf(given) < reasoningLevels.indexOf(own) ? given : own;
}

function mergeProviderOptions(
  own: ProviderOptions | undefined,
  given: ProviderOptions | undefined,
): ProviderOptions | undefined {
  if (own === undefined || given === undefined) return own ?? given;
  const names = new Set([...Object.keys(own), ...Object.keys(given)]);
  return Object.fromEntries(Array.from(names, (name) => [name, { ...own[name], ...given[name] }]));
}

/** Throws for an option of a provider that the host does not leave to callers. */
export function checkAllowed(
  agentId: string,
  allowed: AllowedProviderOptions,
  given: CallSettings["providerOptions"],
): void {
  for (const [provider, options] of Object.entries(given ?? {})) {
    const names = Object.hasOwn(allowed, provider) ? allowed[provider] : undefined;
    for (const name of Object.keys(options)) {
      if (names?.includes(name)) continue;
      throw new InvalidOptionError({
        option: `providerOptions.${provider}.${name}`.slice(0, 200),
        problem: `agent ${agentId} does not allow it`,
      });
    }
  }
}

/** True when a host's list has the form of one. */
export function isAllowList(value: unknown): boolean {
  if (!isRecord(value)) return false;
  return Object.values(value).every(
    (list) => Array.isArray(list) && list.every((name) => typeof name === "string"),
  );
}
