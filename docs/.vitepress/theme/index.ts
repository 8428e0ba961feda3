// VitePress' own theme with the fonts of the reader's machine: nothing is loaded for them.
import theme from "vitepress/theme-without-fonts";
import "./fonts.css";

export default theme;
