// The relations of an execution to the one that has started it, and the ids of children.
import { createHash } from "node:crypto";
import type { BackgroundWork, OnParentEnd } from "../../agent/durable/children.ts";
import { Fields } from "../../values/fields.ts";

export interface ParentLink {
  readonly executionId: string;
  /** Where the parent waits for the end. */
  readonly path: string;
  readonly onParentEnd: OnParentEnd;
  /** No call of the parent waits for it. Default: one does. */
  readonly background?: BackgroundWork | undefined;
}

export interface Links {
  readonly parent: ParentLink | undefined;
  readonly hasChildren: boolean;
}

export function linkTo(parent: ParentLink): string {
  return JSON.stringify({ parent });
}

export function readLinks(text: string | null): Links {
  if (text === null) return { parent: undefined, hasChildren: false };
  const fields = Fields.parse(text, (problem) => new TypeError(`The links of an execution: ${problem}`));
  const parent = fields.object("parent");
  const background = parent?.object("background");
  return {
    hasChildren: fields.isTrue("children"),
    parent: parent && {
      executionId: parent.text("executionId"),
      path: parent.text("path"),
      onParentEnd: parent.text("onParentEnd") === "continue" ? "continue" : "cancel",
      background: background && {
        toolName: background.text("toolName"),
        wake: background.isTrue("wake"),
      },
    },
  };
}

/** The beginning of the ids of an execution's children. */
export function childPrefix(executionId: string): string {
  return `child-${digest(executionId)}-`;
}

/** The same for each attempt to start the child of this path, in a step that began at this time: it is started once. */
export function childIdOf(executionId: string, path: string, beganAt: number): string {
  return childPrefix(executionId) + digest(`${beganAt} ${path}`);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
