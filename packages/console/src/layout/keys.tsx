// The keys of the console, in a dialog that `?` opens.
import { Dialog } from "../components/dialog.tsx";
import { isMac } from "../format/keys.ts";

const command = isMac ? "⌘" : "Ctrl";

const groups = [
  [
    "Everywhere",
    [
      [`${command} K`, "search or run a command"],
      ["/", "go to the filter of the page"],
      ["?", "show these keys"],
      ["Esc", "close a dialog"],
    ],
  ],
  [
    "Forms",
    [
      [`${command} ⏎`, "send the form"],
      ["← →", "choose between segments and tabs"],
    ],
  ],
  [
    "Executions",
    [
      ["⇧ click", "choose a range of rows"],
      ["Esc", "clear the selection"],
    ],
  ],
  [
    "One execution",
    [
      ["j k", "next and previous event"],
      ["Space", "play the execution"],
    ],
  ],
  ["Inbox", [["j k", "next and previous item"]]],
] as const;

export default function Keys({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog open title="Keys" onClose={onClose}>
      <dl className="key-list">
        {groups.map(([group, keys]) => (
          <div key={group}>
            <dt className="group">{group}</dt>
            {keys.map(([key, effect]) => (
              <dd key={key}>
                <kbd>{key}</kbd> {effect}
              </dd>
            ))}
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
