// The playground of a chat: another model, temperature or instructions for its next replies, kept by the tab.
import type { Playground, PlaygroundSettings } from "@andante/client";
import { SlidersHorizontal } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { isObject } from "../../form/as-schema.ts";
import { keepDraft, readDraft } from "../../form/draft.ts";

/** The most characters that the server takes. */
const maxInstructions = 100_000;

/** The settings of one chat; undefined where nothing differs from the agent. */
export function usePlayground(conversationId: string) {
  const key = `andante-playground ${conversationId}`;
  const [settings, setSettings] = useState<PlaygroundSettings | undefined>(() => {
    const data = readDraft(key)?.data;
    return isObject(data) ? settingsIn(data) : undefined;
  });
  const change = (next: PlaygroundSettings) => {
    const given = Object.entries(next).filter(([, value]) => value !== undefined);
    const kept = given.length === 0 ? undefined : Object.fromEntries(given);
    setSettings(kept);
    keepDraft(key, kept && { mode: "json", text: "", data: kept });
  };
  return { settings, change };
}

function settingsIn({
  model,
  temperature,
  instructions,
}: Readonly<Record<string, unknown>>): PlaygroundSettings {
  return {
    model: typeof model === "string" ? model : undefined,
    temperature: typeof temperature === "number" ? temperature : undefined,
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}

interface PlaygroundProps {
  readonly choices: Playground;
  readonly settings: PlaygroundSettings | undefined;
  readonly onChange: (settings: PlaygroundSettings) => void;
}

/** The fields, folded until they are asked for; the button names the changes. */
export function PlaygroundPanel({ choices, settings = {}, onChange }: PlaygroundProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const words = wordsOf(settings);
  return (
    <div className="playground">
      <div className="row">
        <button
          type="button"
          className={words === "" ? "chip" : "chip on"}
          aria-expanded={open}
          aria-controls={id}
          onClick={() => setOpen(!open)}
        >
          <SlidersHorizontal aria-hidden="true" width={12} /> Playground
        </button>
        {words !== "" && (
          <>
            <span className="muted cut" role="status">
              Replies with {words}
            </span>
            <button type="button" className="text-button" onClick={() => onChange({})}>
              Back to the agent's own
            </button>
          </>
        )}
      </div>
      <fieldset id={id} hidden={!open}>
        <legend className="hidden-label">Playground</legend>
        <Fields choices={choices} settings={settings} onChange={onChange} />
      </fieldset>
    </div>
  );
}

function Fields({ choices, settings, onChange }: Required<PlaygroundProps>) {
  const { model, temperature, instructions } = settings ?? {};
  const change = (next: PlaygroundSettings) => onChange({ ...settings, ...next });
  const own = choices.model ?? "chosen for each reply";
  return (
    <>
      <div className="playground-fields">
        <Labelled label="Model">
          {(id) => (
            <select
              id={id}
              className="field"
              value={model ?? ""}
              onChange={({ target }) => change({ model: target.value || undefined })}
            >
              <option value="">{own} (the agent's)</option>
              {choices.models.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Labelled>
        <Labelled label="Temperature">
          {(id) => (
            <input
              id={id}
              className="field"
              type="number"
              min={0}
              max={2}
              step={0.1}
              placeholder={choices.temperature === null ? "the model's" : String(choices.temperature)}
              value={temperature ?? ""}
              onChange={({ target }) => change({ temperature: temperatureOf(target.value) })}
            />
          )}
        </Labelled>
      </div>
      <Labelled label="Instructions">
        {(id) => (
          <textarea
            id={id}
            className="field"
            dir="auto"
            rows={4}
            maxLength={maxInstructions}
            placeholder={choices.instructions ?? "The agent makes its own for each reply"}
            value={instructions ?? choices.instructions ?? ""}
            onChange={({ target }) =>
              change({ instructions: target.value === choices.instructions ? undefined : target.value })
            }
          />
        )}
      </Labelled>
      <p className="faint">
        For the next replies of this chat in this tab. The agent and other chats stay as they are.
      </p>
    </>
  );
}

function Labelled({
  label,
  children,
}: {
  readonly label: string;
  readonly children: (id: string) => ReactNode;
}) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}

/** Within the range of a temperature; undefined for an empty field. */
function temperatureOf(text: string): number | undefined {
  const value = Number(text);
  return text === "" || Number.isNaN(value) ? undefined : Math.min(2, Math.max(0, value));
}

/** The changes in words: "gpt-5-mini, temperature 0.2 and other instructions". */
function wordsOf({ model, temperature, instructions }: PlaygroundSettings): string {
  const words = [
    ...(model === undefined ? [] : [model]),
    ...(temperature === undefined ? [] : [`temperature ${temperature}`]),
    ...(instructions === undefined ? [] : [instructions === "" ? "no instructions" : "other instructions"]),
  ];
  return words.join(", ");
}
