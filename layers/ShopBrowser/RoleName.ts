import { Effect } from "effect"
import type { Locator } from "playwright-core"
import { ask, longestName } from "./Chromium.ts"

/**
 * What the tree of roles calls a control: `- textbox "Email *"`, or `- 'textbox "Street: Line 1"'`, as YAML wants names with a colon.
 * Undefined where it has no name.
 */
export const roleName = (control: Locator) =>
  Effect.map(
    ask(() => control.ariaSnapshot()),
    (tree) => {
      const [, quote, name] = /^- ('?)\w+ "((?:[^"\\]|\\.)*)"/.exec(tree.slice(0, 10 * longestName)) ?? []
      return quote === "'" ? name?.replaceAll("''", "'") : name
    }
  )
