// Whether the command palette is open: a key and the search box of every page open it.
import { Shared, useShared } from "../api/shared.ts";

const open = new Shared(false);

export const openPalette = () => open.set(true);
export const closePalette = () => open.set(false);
export const usePaletteOpen = () => useShared(open);
