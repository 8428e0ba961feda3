// A dialog, and a confirmation dialog for dangerous actions.
import { Dialog as Base } from "radix-ui";
import { type ReactNode, useState } from "react";
import { Problem } from "./problem.tsx";

export function Dialog({
  open,
  onClose,
  title,
  children,
  wide = false,
}: {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly children: ReactNode;
  readonly wide?: boolean;
}) {
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => isOpen || onClose()}>
      <Base.Portal>
        <Base.Overlay className="overlay" />
        <Base.Content className={wide ? "dialog wide" : "dialog"} aria-describedby={undefined}>
          <Base.Title asChild>
            <h2>{title}</h2>
          </Base.Title>
          {children}
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  );
}

/** The first click of a double click closes the dialog: the second must not hit the element below it. */
function dropSecondClick(): void {
  const onClick = (event: MouseEvent) => {
    if (event.detail < 2) return;
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener("click", onClick, { capture: true, once: true });
}

/** Asks for confirmation and describes the effects of the action. */
export function Confirm({
  title,
  children,
  act,
  danger = false,
  onClose,
  onConfirm,
}: {
  readonly title: string;
  readonly children: ReactNode;
  /** The label of the button. */
  readonly act: string;
  readonly danger?: boolean;
  readonly onClose: () => void;
  /** The dialog stays open until the returned promise settles. */
  readonly onConfirm: () => unknown;
}) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const confirm = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await onConfirm();
      dropSecondClick();
      onClose();
    } catch (problem) {
      setError(problem);
      setBusy(false);
    }
  };
  return (
    <Dialog open onClose={onClose} title={title}>
      <div className="muted">{children}</div>
      <Problem error={error} what="That did not work" />
      <div className="acts">
        <button type="button" className="btn" onClick={onClose}>
          Go back
        </button>
        <button
          type="button"
          className={danger ? "btn danger" : "btn primary"}
          disabled={busy}
          onClick={() => void confirm()}
        >
          {act}
        </button>
      </div>
    </Dialog>
  );
}
