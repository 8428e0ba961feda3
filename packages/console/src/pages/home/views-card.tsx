// The saved views of the list, with the number of executions in each; those above their threshold are marked.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { countsQuery } from "../../api/queries.ts";
import { Status } from "../../components/status.tsx";
import { count } from "../../format/numbers.ts";
import { filtersOf } from "../executions/filters-of.ts";
import { countsOf, countText } from "../executions/list-counts.ts";
import { type SavedView, useViews } from "../executions/saved-views.ts";

export function ViewsCard() {
  const views = useViews();
  if (views.length === 0) return null;
  return (
    <section className="card registered whole" aria-label="Saved views">
      <h2>Saved views</h2>
      {views.map((view) => (
        <View key={view.name} view={view} />
      ))}
    </section>
  );
}

function View({ view: { name, search, above } }: { readonly view: SavedView }) {
  const filters = filtersOf(search);
  // The executions that a search finds are not counted.
  const { data } = useQuery({ ...countsQuery(filters), enabled: filters.text === undefined });
  const counted = data && countsOf(data, filters.status);
  return (
    <Link to="/executions" search={search}>
      <span className="cut">{name}</span>
      <span className="num">
        {counted && above !== undefined && counted.count > above && (
          <Status status="error" word={`above ${count(above)}`} />
        )}{" "}
        {counted && countText(counted)}
      </span>
    </Link>
  );
}
