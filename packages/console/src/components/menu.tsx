// A chip with a menu.
import { ChevronDown } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactNode } from "react";

export function Menu({ label, children }: { readonly label: ReactNode; readonly children: ReactNode }) {
  return (
    <DropdownMenu.Root>
      <DropdownMenu.Trigger className="chip">
        {label}
        <ChevronDown aria-hidden="true" width={12} />
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
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
