// The settings of the AI SDK's `ToolLoopAgent` that an agent takes over as they are, and those that it refuses.
import type { FlexibleSchema, ToolLoopAgentSettings, ToolSet } from "ai";
import type { AnyOutput, Context } from "./any-agent.ts";

/** Every setting of the AI SDK's own agent. `sdk-settings.test-d.ts` compares the list with the options of an agent. */
export type SdkSettings = ToolLoopAgentSettings<never, ToolSet, Context, AnyOutput>;

/**
 * The AI SDK's callbacks, under its names and with its events. They observe: one that throws is logged and changes
 * nothing. A reply that continues after a crash reports only the calls that are made then.
 */
export type SdkCallbacks = Readonly<
  Pick<
    SdkSettings,
    | "onStart"
    | "onStepStart"
    | "onLanguageModelCallStart"
    | "onLanguageModelCallEnd"
    | "onToolExecutionStart"
    | "onToolExecutionEnd"
    | "onStepEnd"
    | "onStepFinish"
    | "onStepError"
    | "onEnd"
    | "onFinish"
    | "onError"
    | "onAbort"
  >
>;

type PrepareCall = NonNullable<SdkSettings["prepareCall"]>;

/** The AI SDK's ways to change the arguments of a call. */
export interface CallPreparation<CallOptions> {
  /** Validates the call options, and types them for `prepareCall`. Default: they are not validated. */
  readonly callOptionsSchema?: FlexibleSchema<CallOptions>;
  /**
   * Makes the arguments of one call of the call options, as the AI SDK has it. Runs again when a reply continues after a
   * crash, with the same options. Default: the agent's own settings.
   */
  prepareCall?(
    settings: Omit<Parameters<PrepareCall>[0], "options"> & { readonly options: CallOptions },
  ): ReturnType<PrepareCall>;
}

/** Settings of the AI SDK's own agent that an agent refuses, each with the reason. */
export const refusedSettings = {
  _internal: "it is for the AI SDK's own tests, and ids of messages and calls must be the same after a crash",
} as const satisfies Readonly<Record<string, string>>;

/** Deprecated names of the AI SDK, and the option that each one means. */
const aliases = {
  experimental_onStart: "onStart",
  experimental_onStepStart: "onStepStart",
  experimental_repairToolCall: "repairToolCall",
  experimental_telemetry: "telemetry",
  onStepFinish: "onStepEnd",
  onFinish: "onEnd",
} as const;

/** The same options under their present names. */
export function withoutAliases<Options extends object>(options: Options): Options {
  const old = Object.entries(aliases).filter(([alias]) => alias in options);
  if (old.length === 0) return options;
  const renamed: Record<string, unknown> = Object.fromEntries(Object.entries(options));
  for (const [alias, name] of old) {
    renamed[name] ??= renamed[alias];
    delete renamed[alias];
  }
  return renamed as Options;
}

export function isExperimental(name: string): boolean {
  return name.startsWith("experimental_");
}

/** The experimental settings among the options: they are passed to the AI SDK unread. */
export function experimentalOf(options: object): Record<string, unknown> | undefined {
  let found: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(options)) {
    if (!isExperimental(name) || value === undefined) continue;
    found ??= {};
    found[name] = value;
  }
  return found;
}
