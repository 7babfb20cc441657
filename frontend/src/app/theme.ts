import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from "@mantine/core";

const accent: MantineColorsTuple = [
  "#e6f5f7", "#cbe8ec", "#9fd5dd", "#7bcbd6", "#5cc1d0", "#2f97a8", "#0f7688", "#0a6b7c", "#085866", "#06444f",
];

/** The page's own neutral ramp for what the library draws in the dark: fields, menus, switches. */
const dark: MantineColorsTuple = [
  "#e7e9ec", "#b3b9c0", "#969da6", "#7b828b", "#4a5058", "#343a41", "#202328", "#141619", "#101215", "#0c0d0f",
];

/** One accent for what can be clicked. All other colour is for states and lives in colours.css. */
export const theme = createTheme({
  colors: { accent, dark },
  primaryColor: "accent",
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  luminanceThreshold: 0.35,
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'Liberation Mono', monospace",
  fontSizes: { xs: "12px", sm: "14px", md: "14px", lg: "16px", xl: "20px" },
  spacing: { xs: "4px", sm: "8px", md: "16px", lg: "24px", xl: "32px" },
  defaultRadius: 4,
  cursorType: "pointer",
  focusRing: "auto",
  respectReducedMotion: true,
  components: {
    Modal: { defaultProps: { closeButtonProps: { "aria-label": "Close" }, transitionProps: { duration: 0 }, styles: { content: { background: "var(--float)" }, header: { background: "var(--float)" } } } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: false } },
  },
});

export const cssVariables: CSSVariablesResolver = () => {
  const own = {
    "--mantine-color-body": "var(--paper)",
    "--mantine-color-text": "var(--ink)",
    "--mantine-color-dimmed": "var(--ink-2)",
    "--mantine-color-placeholder": "var(--ink-3)",
    "--mantine-color-error": "var(--red)",
    "--mantine-color-anchor": "var(--accent)",
    "--mantine-color-default": "var(--paper)",
    "--mantine-color-default-border": "var(--edge)",
    "--mantine-color-default-hover": "var(--band)",
    "--mantine-color-default-color": "var(--ink)",
  };
  return { variables: {}, light: own, dark: own };
};
