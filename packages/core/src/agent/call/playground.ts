// The playground: another model, temperature or instructions for single replies, within the choices that the host gives.
import type { LanguageModel } from "ai";
import { DefinitionError, InvalidOptionError, PlaygroundOffError } from "../../errors/index.ts";
import { checkKnownOptions, type KnownOptions } from "../../values/check-options.ts";
import { isRecord } from "../../values/fields.ts";
import { checkSettings } from "./call-settings.ts";

export interface PlaygroundOptions {
  /** The models that can be chosen, by the name that people see. Default: only the agent's own. */
  readonly models?: Readonly<Record<string, LanguageModel>>;
}

/** The option of an agent. */
type PlaygroundOption = false | PlaygroundOptions | undefined;

/** How one reply differs from its agent. */
export interface PlaygroundSettings {
  /** The name of one of the host's models. Default: the agent's own. */
  readonly model?: string | undefined;
  /** Default: the agent's. */
  readonly temperature?: number | undefined;
  /** The system prompt; "" for none. Default: the agent's. */
  readonly instructions?: string | undefined;
}

/** The choices of a playground. */
export interface PlaygroundChoices {
  /** The names of the models. */
  readonly models: readonly string[];
  /** The agent's own temperature; null when it has none. */
  readonly temperature: number | null;
}

/** Characters of instructions: they are kept with each turn that uses them. */
export const maxInstructions = 100_000;

const knownPlayground: KnownOptions<PlaygroundOptions> = { models: true };

/** Throws, while the host defines, for a playground that could never work. */
export function checkPlayground(
  playground: PlaygroundOption,
  where: string,
  isModel: (model: unknown) => boolean,
): void {
  if (playground === undefined || playground === false) return;
  const refuse = (problem: string) => new DefinitionError({ where, problem });
  if (!isRecord(playground)) throw refuse("playground must be false or an object");
  checkKnownOptions(`${where}, playground`, playground, knownPlayground);
  const models: unknown = playground.models ?? {};
  if (!isRecord(models)) throw refuse("playground.models must be an object");
  for (const [name, model] of Object.entries(models)) {
    if (name === "") throw refuse("playground.models has a model without a name");
    if (!isModel(model)) throw refuse(`playground.models.${name} is not a language model`);
  }
}

/** Undefined where the host has turned it off. */
export function choicesOf({
  playground = {},
  temperature,
}: {
  readonly playground?: PlaygroundOption;
  readonly temperature?: number | undefined;
}): PlaygroundChoices | undefined {
  if (playground === false) return undefined;
  return { models: Object.keys(playground.models ?? {}), temperature: temperature ?? null };
}

/** The options of the agent that differ for one reply. Throws for settings that the host does not offer. */
export function changesOf(
  { id: agentId, playground = {} }: { readonly id: string; readonly playground?: PlaygroundOption },
  { model, temperature, instructions }: PlaygroundSettings,
): { readonly model?: LanguageModel; readonly temperature?: number; readonly instructions?: string } {
  if (playground === false) throw new PlaygroundOffError({ agentId });
  const { models = {} } = playground;
  const chosen = model !== undefined && Object.hasOwn(models, model) ? models[model] : undefined;
  if (model !== undefined && chosen === undefined)
    throw new InvalidOptionError({
      option: "playground.model",
      problem: `agent ${agentId} does not offer it`,
    });
  checkSettings({ temperature });
  const isText = typeof instructions === "string" && instructions.length <= maxInstructions;
  if (instructions !== undefined && !isText)
    throw new InvalidOptionError({
      option: "playground.instructions",
      problem: `expected a string of at most ${maxInstructions} characters`,
    });
  return {
    ...(chosen !== undefined && { model: chosen }),
    ...(temperature !== undefined && { temperature }),
    ...(instructions !== undefined && { instructions }),
  };
}
