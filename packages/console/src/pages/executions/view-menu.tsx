// Saves the filters of the list under a name, and opens saved ones.
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Dialog } from "../../components/dialog.tsx";
import { Choice, Menu } from "../../components/menu.tsx";
import type { Search } from "../../layout/search.ts";
import { keepViews, mostViews, useViews } from "./saved-views.ts";

export function ViewMenu({ search }: { readonly search: Search }) {
  const navigate = useNavigate();
  const views = useViews();
  const [saving, setSaving] = useState(false);
  return (
    <>
      <Menu label="Views">
        {views.map((view) => (
          <Choice key={view.name} onSelect={() => void navigate({ to: "/executions", search: view.search })}>
            {view.name}
          </Choice>
        ))}
        <Choice onSelect={() => setSaving(true)}>Save this view…</Choice>
        {views.map((view) => (
          <Choice key={view.name} onSelect={() => keepViews(views.filter((each) => each !== view))}>
            <span className="faint">Remove {view.name}</span>
          </Choice>
        ))}
      </Menu>
      {saving && <SaveView search={search} onClose={() => setSaving(false)} />}
    </>
  );
}

function SaveView({ search, onClose }: { readonly search: Search; readonly onClose: () => void }) {
  const views = useViews();
  const [name, setName] = useState("");
  const [above, setAbove] = useState("");
  const others = views.filter((view) => view.name !== name.trim());
  const isFull = others.length >= mostViews;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    keepViews([...others, { name: name.trim(), search, ...(above !== "" && { above: Number(above) }) }]);
    onClose();
  };
  return (
    <Dialog open title="Save this view" onClose={onClose}>
      <form className="save-view" onSubmit={submit}>
        <p className="muted">
          Home shows the number of its executions. The view is kept in this browser, for you alone.
        </p>
        <label>
          Name
          <input
            className="field"
            maxLength={60}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <label>
          Mark it above this number of executions
          <input
            className="field"
            type="number"
            min={0}
            max={499}
            placeholder="Optional"
            value={above}
            onChange={(event) => setAbove(event.target.value)}
          />
        </label>
        {isFull && <p className="problem">There are {mostViews} views already: remove one first.</p>}
        <div className="acts">
          <button type="button" className="btn" onClick={onClose}>
            Go back
          </button>
          <button type="submit" className="btn primary" disabled={name.trim() === "" || isFull}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
