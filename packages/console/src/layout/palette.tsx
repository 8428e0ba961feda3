// The command palette: open any page, run a workflow, open a pasted id, find an execution by a value, answer the oldest
// inbox item.
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ArrowRight, Bot, Inbox, List, Play, Search } from "lucide-react";
import { Dialog } from "radix-ui";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import {
  agentsQuery,
  executionsQuery,
  inboxQuery,
  searchQuery,
  serverQuery,
  workflowsQuery,
} from "../api/queries.ts";
import { focusAtEnd } from "../components/focus-at-end.ts";
import { shortId } from "../format/numbers.ts";
import { navigation } from "./navigation.ts";

interface Command {
  readonly name: string;
  readonly hint: string;
  readonly icon: ReactNode;
  readonly run: () => void;
}

function useCommands(text: string): readonly Command[] {
  const navigate = useNavigate();
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const { data: agents = [] } = useQuery(agentsQuery);
  const { data: inbox } = useQuery(inboxQuery);
  const wanted = text.trim().toLowerCase();
  const oldest = inbox?.items[0];
  const all: Command[] = [
    ...(oldest === undefined
      ? []
      : [
          {
            name: "Answer what waits longest",
            hint: oldest.suspension.reason || oldest.workflowId,
            icon: <Inbox />,
            run: () => void navigate({ to: "/inbox", search: { item: oldest.suspension.suspensionId } }),
          },
        ]),
    ...workflows.map(({ id, name }) => ({
      name: `Run ${name}`,
      hint: "workflow",
      icon: <Play />,
      run: () =>
        void navigate({ to: "/workflows/$workflowId", params: { workflowId: id }, search: { tab: "run" } }),
    })),
    ...agents.map(({ id, name }) => ({
      name: `Chat with ${name}`,
      hint: "agent",
      icon: <Bot />,
      run: () => void navigate({ to: "/agents/$agentId", params: { agentId: id } }),
    })),
    {
      name: "Failed executions",
      hint: "list",
      icon: <List />,
      run: () => void navigate({ to: "/executions", search: { status: "error" } }),
    },
    ...navigation.map(({ name, to }) => ({
      name: `Go to ${name}`,
      hint: "page",
      icon: <ArrowRight />,
      run: () => void navigate({ to }),
    })),
  ];
  const matching = all.filter(({ name, hint }) => `${name} ${hint}`.toLowerCase().includes(wanted));
  const searched = useSearched(text.trim());
  return [...matching, ...useOpened(text.trim(), searched), ...useFound(searched)];
}

/** Milliseconds without a key after which the values are searched. */
const searchAfter = 150;

/** The text once no key was pressed for a moment; "" before, and for one that is too short. */
function useSearched(text: string): string {
  const [searched, setSearched] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text), searchAfter);
    return () => clearTimeout(timer);
  }, [text]);
  return searched === text && text.length >= 3 ? text : "";
}

const wholeId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The newest executions whose ids begin with this text; a whole id also before it is looked up, for those who paste. */
function useOpened(text: string, searched: string): readonly Command[] {
  const navigate = useNavigate();
  const { data, isPlaceholderData } = useInfiniteQuery({
    ...executionsQuery({ id: searched }, 3),
    enabled: searched !== "" && !/\s/.test(searched),
  });
  const isKnown = searched !== "" && data !== undefined && !isPlaceholderData;
  const unread = wholeId.test(text) ? [{ executionId: text, workflowId: "id" }] : [];
  const executions = isKnown ? (data.pages[0]?.executions ?? []) : unread;
  return executions.map(({ executionId, workflowId }) => ({
    name: `Open execution ${executionId}`,
    hint: workflowId,
    icon: <ArrowRight />,
    run: () => void navigate({ to: "/executions/$executionId", params: { executionId } }),
  }));
}

/** The newest executions with this value, and the list of all of them. */
function useFound(text: string): readonly Command[] {
  const navigate = useNavigate();
  const { data: server } = useQuery(serverQuery);
  const isSearched = server?.search === true && text !== "";
  const { data, isPlaceholderData } = useInfiniteQuery({
    ...searchQuery({ text }, 5),
    enabled: isSearched,
    refetchInterval: false,
  });
  const executions = data?.pages[0]?.executions ?? [];
  if (!isSearched || isPlaceholderData || executions.length === 0) return [];
  return [
    ...executions.map(({ executionId, workflowId, status, matches = [] }) => ({
      name: `${workflowId} ${shortId(executionId)}`,
      hint: [status, ...matches.slice(0, 1).map(({ path, value }) => `${path}: ${value}`)].join(" · "),
      icon: <Search />,
      run: () => void navigate({ to: "/executions/$executionId", params: { executionId } }),
    })),
    {
      name: `List executions with ${text}`,
      hint: "search in values",
      icon: <List />,
      run: () => void navigate({ to: "/executions", search: { text } }),
    },
  ];
}

export default function Palette({
  text,
  onText,
  onClose,
}: {
  /** With all that was typed before this code was loaded. */
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly onClose: () => void;
}) {
  const [selected, setSelected] = useState(0);
  const commands = useCommands(text);
  const at = Math.min(selected, Math.max(0, commands.length - 1));
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    onClose();
    command.run();
  };
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls the active command into view
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [at, text]);
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setSelected(Math.min(commands.length - 1, at + 1));
    else if (event.key === "ArrowUp") setSelected(Math.max(0, at - 1));
    else if (event.key === "Enter") run(commands[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog palette" aria-describedby={undefined}>
          <Dialog.Title className="hidden-label">Search or run a command</Dialog.Title>
          <input
            ref={focusAtEnd}
            role="combobox"
            aria-expanded="true"
            aria-controls="commands"
            {...(commands.length > 0 && { "aria-activedescendant": `command-${at}` })}
            aria-label="Search or run a command"
            placeholder="Search, run a workflow, paste an id"
            value={text}
            onChange={(event) => {
              onText(event.target.value);
              setSelected(0);
            }}
            onKeyDown={onKey}
          />
          <div ref={list} id="commands" role="listbox" aria-label="Commands">
            {commands.map((command, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the input above handles the keys
              <div
                key={`${command.name} ${command.hint}`}
                id={`command-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={index === at}
                onClick={() => run(command)}
                onMouseMove={() => setSelected(index)}
              >
                {command.icon}
                {command.name}
                <small>{command.hint}</small>
              </div>
            ))}
          </div>
          {commands.length === 0 && (
            <p className="empty" role="status">
              Nothing matches. Try the name of a workflow, an agent or a page, or paste an id.
            </p>
          )}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
