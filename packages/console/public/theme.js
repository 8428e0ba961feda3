// Sets the theme before anything is painted: the one that was chosen, else the system's.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("andante-theme");
  } catch {
    // Without storage the system's theme is used.
  }
  const dark =
    chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
