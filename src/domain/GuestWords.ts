/** The ways past a login in the words of most shops: one place for texts, forms, buttons and links. */

const past =
  /\bguest\b|without (?:an? )?(?:account|regist|sign|log)|als (?:gast|neukunde)|gast(?:bestellung|zugang|konto)|ohne (?:registrier|anmeld|(?:kunden)?konto)|invité|sans (?:créer de )?compte|sans inscription|invitado|sin (?:cuenta|registr)|ospite|senza registra|convidado|visitante|sem (?:cadastro|registo)|zonder account|som (?:gäst|gjest|gæst)|vieraana|jako (?:gość|host)|bez (?:rejestracji|registrace)|как гость|без регистрации|misafir|ゲスト|游客|訪客|비회원/iu

/** Whether what a form or its button says may be of the way for guests. The widest: it only keeps a form from being taken for a login. */
export const isOfGuests = (words: string): boolean => past.test(words.slice(0, 1_000))

/** The words of a button that is pressed to go on as a guest: narrower, as what they name is sent. */
export const guestButton =
  /\bguest\b|without (?:an )?(?:account|regist)|als gast|gastbestellung|invité|sans compte|invitado|sin cuenta|ospite|convidado|zonder account/i

/** The words of a link that is followed to go on as a guest. */
export const guestLinkWords = /\bguest\b|without (?:an )?account|als gast|invité|invitado|ospite/i

const stated =
  /(?:check ?out|continue|order|buy|pay|proceed|shop) (?:as (?:a )?guest|without (?:an? )?(?:account|registering|registration|logging in|signing in))|guest (?:check ?out|order)|als (?:gast|neukunde)|gast(?:bestellung|zugang|konto)|ohne (?:registrierung|anmeldung|(?:kunden)?konto)|(?:en tant qu['’]|comme )invité|commande invité|sans (?:créer de compte|inscription|compte)|como invitado|sin (?:registrarse|registro|crear (?:una )?cuenta)|como (?:convidado|visitante)|sem (?:cadastro|registo)|come ospite|senza registra(?:zione|rsi)|als gast|zonder account|som gäst|utan (?:konto|registrering)|som gjest|som gæst|vieraana|jako gość|bez rejestracji|bez registrace|ako hosť|vendégként|как гость|без регистрации|misafir olarak|ゲスト(?:として|購入)|(?:会員登録|ログイン)(?:せず|しない|なし)|游客|訪客|비회원/iu

/** What in a text says that one may buy without an account: whole phrases, as a text speaks of guests in passing as well. */
export const guestPhraseIn = (text: string): string | undefined => stated.exec(text)?.[0]
