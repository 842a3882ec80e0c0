/** Who watches people, and is no part of buying: neither loaded nor told. A host of this list stands for everything below it. */
const trackers: ReadonlySet<string> = new Set([
  "google-analytics.com",
  "googletagmanager.com",
  "googleadservices.com",
  "googlesyndication.com",
  "doubleclick.net",
  "facebook.net",
  "connect.facebook.com",
  "bat.bing.com",
  "clarity.ms",
  "hotjar.com",
  "hotjar.io",
  "fullstory.com",
  "mouseflow.com",
  "crazyegg.com",
  "luckyorange.com",
  "segment.com",
  "segment.io",
  "amplitude.com",
  "mixpanel.com",
  "heap.io",
  "heapanalytics.com",
  "posthog.com",
  "matomo.cloud",
  "plausible.io",
  "newrelic.com",
  "nr-data.net",
  "sentry.io",
  "bugsnag.com",
  "datadoghq-browser-agent.com",
  "criteo.com",
  "criteo.net",
  "taboola.com",
  "outbrain.com",
  "adroll.com",
  "adsrvr.org",
  "rubiconproject.com",
  "pinimg.com",
  "ct.pinterest.com",
  "analytics.tiktok.com",
  "sc-static.net",
  "tr.snapchat.com",
  "static.ads-twitter.com",
  "px.ads.linkedin.com",
  "snap.licdn.com",
  "klaviyo.com",
  "attentivemobile.com",
  "attn.tv",
  "yotpo.com",
  "intercom.io",
  "intercomcdn.com",
  "zdassets.com",
  "tawk.to",
  "tidio.co",
  "optimizely.com",
  "dynamicyield.com"
])

/** Whether a host is one of them or below one. */
export const isTracker = (hostname: string): boolean => {
  const labels = hostname.split(".")
  return labels.some((_, index) => index < labels.length - 1 && trackers.has(labels.slice(index).join(".")))
}

/** Where a shop itself takes what watches people, on behalf of who does: told from what buys by its address alone. */
const beacon =
  /^\/(?:cdn-cgi\/(?:rum|beacon|zaraz)|\.well-known\/shopify\/monorail|_vercel\/(?:speed-)?insights|akam\/|ahoy\/(?:visits|events))|\/[gj]\/collect\/?$|\/(?:matomo|piwik)\.php$/i

/** Whether what is sent there only watches. */
export const isBeacon = (url: URL): boolean => beacon.test(url.pathname)
