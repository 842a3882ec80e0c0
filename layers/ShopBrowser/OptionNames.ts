import { isExtra } from "#domain/AsideWords.ts"
import { asksBesideOptions } from "#domain/VisitorWords.ts"
import { any } from "#domain/WordPatterns.ts"

/** What tells an option of a product from what else stands beside it, in the languages we read. */

/** What shops call the choices of a product. */
const called = any(
  "(?<!\\p{L})(?:sizes?|colou?rs?|materials?|styles?|fit|lengths?|widths?|heights?|flavou?rs?|scents?|fragrance|finish|patterns?|models?|capacity|storage|memory|volume|weight|pack|shades?|formats?|editions?|types?|variants?|options?)(?!\\p{L})",
  "größe|groesse|farbe|länge|breite|geschmack|duft|ausführung|muster|modell|kapazität|inhalt|gewicht|variante|sorte|stärke",
  "taille|couleur|coloris|matière|longueur|largeur|saveur|goût|parfum|finition|motif|modèle|capacité|contenance|poids|pointure",
  "talla|tamaño|(?<!\\p{L})color|material|(?<!\\p{L})(?:largo|ancho)|sabor|acabado|modelo|capacidad|tamanho|(?<!\\p{L})cor(?:es)?(?!\\p{L})|comprimento|largura|opç|opci",
  "taglia|misura|colore|lunghezza|larghezza|gusto|profumo|finitura|modello|formato",
  "(?<!\\p{L})maat|kleur|materiaal|lengte|breedte|smaak|geur|uitvoering|inhoud|formaat",
  "storlek|färg|längd|bredd|(?<!\\p{L})smak|doft|utförande|størrelse|farve|farge|længde|lengde|(?<!\\p{L})smag",
  "(?<!\\p{L})koko|väri|materiaali|pituus|leveys|(?<!\\p{L})maku|tuoksu|malli|vaihtoehto",
  "rozmiar|kolor|materiał|długość|szerokość|zapach|wariant|pojemność",
  "velikost|barva|materiál|délka|šířka|příchuť|vůně|provedení|objem",
  "beden|renk|malzeme|uzunluk|genişlik|varyant|numara|kapasite|ölçü",
  "размер|цвет|материал|длина|ширина|вкус|аромат|модель|вариант|объ[её]м",
  "サイズ|カラー|色|素材|長さ|種類|タイプ|モデル|容量",
  "尺码|尺寸|颜色|顏色|材质|材質|口味|款式|型号|规格|規格",
  "사이즈|크기|색상|컬러|소재|길이|옵션|모델|용량"
)

/** What shops call them in their source. */
const marked = /(?<![a-z])(?:swatch|variant|variation|option|attribute|size|colou?r)(?:e?s)?(?![a-z])/i

const apart = (names: string): string => names.replace(/([a-z])([A-Z])/g, "$1 $2").replace(/[_-]+/g, " ")

/** Whether a name, in words or in source, is one of something besides the product: asked of a visitor, or sold with it. */
export const isAside = (name: string): boolean => {
  const words = apart(name)
  return asksBesideOptions(name) || asksBesideOptions(words) || isExtra(words)
}

/** Whether what is said of a group of options calls it a choice of a product. */
export const callsChoice = (said: string): boolean => called.test(said)

/** Whether what a group of options is called in the page's source says the same. */
export const marksChoice = (source: string): boolean => marked.test(apart(source))
