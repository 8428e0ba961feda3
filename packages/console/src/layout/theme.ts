// Light or dark theme: the system's, until the user chooses. public/theme.js sets it before the first paint.
import { useState } from "react";

type Theme = "light" | "dark";

export function useTheme(): [theme: Theme, toggle: () => void] {
  const [theme, setTheme] = useState<Theme>(
    document.documentElement.dataset.theme === "dark" ? "dark" : "light",
  );
  const toggle = () => {
    const next = theme === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try {
      localStorage.setItem("andante-theme", next);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    setTheme(next);
  };
  return [theme, toggle];
}
