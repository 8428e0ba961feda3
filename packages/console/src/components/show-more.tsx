// The button that reads the next page of a list.
interface Pages {
  readonly isFetchingNextPage: boolean;
  /** The rows of the filter before are shown until those of this one are there. */
  readonly isPlaceholderData: boolean;
  fetchNextPage(): Promise<unknown>;
}

export function ShowMore({
  pages,
  className = "btn",
}: {
  readonly pages: Pages;
  readonly className?: string;
}) {
  return (
    <button
      type="button"
      className={className}
      disabled={pages.isFetchingNextPage || pages.isPlaceholderData}
      onClick={() => void pages.fetchNextPage()}
    >
      Show more
    </button>
  );
}
