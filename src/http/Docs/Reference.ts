import { html } from "../Html.ts"

/**
 * What the library's page of the reference is told besides. Its own resolver reads the whole description again for every operation that is
 * opened, which takes seconds; ours follows the same references, all of which stay within the description. Its own filter knows tags alone.
 */
const settings = `deepLinking: true,
        filter: true,
        plugins: [
          ({ React: { createElement } }) => ({
            fn: {
              resolveSubtree: async (spec, path) => {
                const at = (names) => names.reduce((value, name) => value?.[name], spec)
                const resolved = (value, within) => {
                  if (typeof value !== "object" || value === null) return value
                  if (Array.isArray(value)) return value.map((one) => resolved(one, within))
                  const { $ref, ...beside } = value
                  if (typeof $ref === "string" && $ref.startsWith("#/") && !within.includes($ref)) {
                    const names = $ref.slice(2).split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
                    return { ...resolved(at(names), [...within, $ref]), ...resolved(beside, within) }
                  }
                  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolved(one, within)]))
                }
                return { spec: resolved(at(path), []), errors: [] }
              },
              opsFilter: (tags, phrase) => {
                const words = phrase.toLowerCase().split(/\\s+/)
                const isMeant = (tag) => (one) => {
                  const said = ["operationId", "summary"].map((name) => one.getIn(["operation", name]))
                  const text = [tag, one.get("method"), one.get("path"), ...said].join(" ").toLowerCase()
                  return words.every((word) => text.includes(word))
                }
                return tags
                  .map((group, tag) => group.update("operations", (all) => all.filter(isMeant(tag))))
                  .filter((group) => group.get("operations").size > 0)
              }
            },
            wrapComponents: {
              operations: (Original) => (props) =>
                props.specSelectors.taggedOperations().size > 0
                  ? createElement(Original, props)
                  : createElement("p", null, "No operation has all of these words.")
            },
            components: {
              FilterContainer: ({ layoutActions, layoutSelectors }) => {
                const phrase = layoutSelectors.currentFilter()
                const field = createElement("input", {
                  className: "operation-filter-input",
                  type: "search",
                  placeholder: "Find operations",
                  "aria-label": "Find operations",
                  value: typeof phrase === "string" ? phrase : "",
                  onChange: ({ target }) => layoutActions.updateFilter(target.value)
                })
                return createElement("div", { className: "filter wrapper" }, field)
              }
            }
          })
        ],
        dom_id: "#swagger-ui",`

const withoutScript = (publicUrl: string) =>
  `<noscript><h1>Turnpike</h1><p>To read and try the API here takes JavaScript. <a href="${html(publicUrl)}/openapi.json">The description for
programs</a> and <a href="${html(publicUrl)}/docs/errors">what every error code means</a> take none.</p></noscript>`

/**
 * The library's page of the reference, with a field that finds operations, an address for each, a place where readers of screens find it,
 * and a word to who runs no scripts.
 */
export const referencePage = (page: string, publicUrl: string): string =>
  page
    .replace('dom_id: "#swagger-ui",', () => settings)
    .replace('<div id="swagger-ui"></div>', `<main id="swagger-ui">${withoutScript(publicUrl)}</main>`)
