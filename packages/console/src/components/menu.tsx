// A chip with a menu.
import { useQuery } from "@tanstack/react-query";
import { ChevronDown } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";
import { workflowsQuery } from "../api/queries.ts";

export function Menu({
  label,
  className = "chip",
  children,
}: {
  readonly label: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  return (
    // A modal one would hide the page from assistive technology, with the button that has the focus before and after.
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger className={className}>
        {label}
        <ChevronDown aria-hidden="true" width={12} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal container={document.querySelector("main")}>
        <DropdownMenu.Content className="menu" align="start" sideOffset={4}>
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export function Choice({
  children,
  onSelect,
}: {
  readonly children: ReactNode;
  readonly onSelect: () => void;
}) {
  return <DropdownMenu.Item onSelect={onSelect}>{children}</DropdownMenu.Item>;
}

/** A filter by workflow; undefined for all of them. */
export function WorkflowMenu({
  chosen,
  onChoose,
}: {
  readonly chosen: string | undefined;
  readonly onChoose: (workflowId: string | undefined) => void;
}) {
  const { data: workflows = [] } = useQuery(workflowsQuery);
  return (
    <Menu label={<>workflow: {chosen ?? "all"}</>}>
      <Choice onSelect={() => onChoose(undefined)}>all workflows</Choice>
      {workflows.map(({ id }) => (
        <Choice key={id} onSelect={() => onChoose(id)}>
          {id}
        </Choice>
      ))}
    </Menu>
  );
}
