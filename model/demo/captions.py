# SPDX-License-Identifier: Apache-2.0
"""Captions of a scene, as people would write them: many wordings of one row of `Scenes.ints`, and wordings kept for the test."""

import random

from world import COLOURS, GROUND_COLOURS, INTS, MOTIONS, PATTERNS, SCENES, SHAPES

SHAPE_WORDS = {
    "circle": ("circle", "circle", "circle", "ball", "disc", "disk"), "square": ("square", "square", "square", "box", "block"),
    "triangle": ("triangle", "triangle", "triangle", "wedge"), "star": ("star",),
}
COLOUR_WORDS = {"cyan": ("cyan", "cyan", "turquoise"), "purple": ("purple", "purple", "violet"),
                "pink": ("pink", "pink", "magenta")}
GROUND_COLOUR_WORDS = {"gray": ("gray", "grey"), "purple": ("purple", "purple", "violet"),
                       "teal": ("teal", "teal", "cyan", "turquoise")}
SIZE_WORDS = (("small", "small", "little", "tiny"), ("",), ("big", "big", "large", "huge"))
# (doing, does)
MOTION_WORDS = {
    "left": (("moving left", "moves left"), ("moving to the left", "moves to the left"), ("sliding left", "slides left"),
             ("going left", "goes left"), ("drifting to the left", "drifts to the left"), ("flying left", "flies left")),
    "right": (("moving right", "moves right"), ("moving to the right", "moves to the right"), ("sliding right", "slides right"),
              ("going right", "goes right"), ("drifting to the right", "drifts to the right"), ("flying right", "flies right")),
    "up": (("moving up", "moves up"), ("rising", "rises"), ("floating up", "floats up"), ("going up", "goes up"),
           ("moving upwards", "moves upwards"), ("flying up", "flies up")),
    "down": (("moving down", "moves down"), ("falling", "falls"), ("sinking", "sinks"), ("going down", "goes down"),
             ("moving downwards", "moves downwards"), ("dropping", "drops")),
    "bounce": (("bouncing", "bounces"), ("bouncing", "bounces"), ("bouncing up and down", "bounces up and down"),
               ("hopping", "hops"), ("jumping", "jumps"), ("jumping up and down", "jumps up and down")),
    "orbit": (("orbiting", "orbits"), ("moving in a circle", "moves in a circle"), ("circling", "circles"),
              ("going around in circles", "goes around in circles"), ("going in circles", "goes in circles")),
    "spin": (("spinning", "spins"), ("rotating", "rotates"), ("turning", "turns"), ("spinning around", "spins around")),
    "grow": (("growing", "grows"), ("getting bigger", "gets bigger"), ("getting larger", "gets larger"),
             ("expanding", "expands")),
    "shrink": (("shrinking", "shrinks"), ("getting smaller", "gets smaller")),
    "fade": (("fading away", "fades away"), ("fading out", "fades out"), ("disappearing", "disappears"),
             ("vanishing", "vanishes"), ("fading", "fades")),
    "appear": (("fading in", "fades in"), ("appearing", "appears")),
    "still": (("standing still", "stands still"), ("staying still", "stays still"), ("not moving", "does not move"),
              ("resting", "rests"), ("sitting still", "sits still")),
}
GROUND_WORDS = {
    "plain": ("a {} background", "a plain {} background", "{}", "a solid {} background", "a {} backdrop", "plain {}"),
    "waves": ("{} waves", "{} waves", "{} waves", "moving {} waves", "a {} sea", "a wavy {} background", "rolling {} waves"),
    "stripes": ("{} stripes", "{} stripes", "a striped {} background", "a {} striped background"),
    "checkerboard": ("a {} checkerboard", "a {} checkerboard", "a {} checkered background", "{} checkers", "{} tiles"),
    "starfield": ("a starfield", "a starfield", "a starry sky", "a night sky", "twinkling stars", "stars in the night sky"),
    "fire": ("fire", "flames", "burning fire", "a fire", "rising flames"),
    "sunrise": ("a sunrise", "a sunrise", "a sunrise sky", "the rising sun", "a sky at sunrise"),
}
PLACES = ("over", "over", "on", "on", "in front of", "above", "against", "across")
LEADS = ("a video of ", "a clip of ", "an animation of ", "video of ", "a short film of ")
# Sprinkled in now and then, so that a word without meaning here changes nothing.
FILLERS = (
    "we", "see", "there", "is", "it", "its", "behind", "show", "me", "keeps", "while", "fill", "fills", "picture", "please",
    "beautiful", "nice", "smooth", "colorful", "bright", "high", "quality", "cinematic", "slowly", "quickly", "gently",
    "scene", "shot", "camera", "detailed", "very", "one", "single", "from", "into", "under", "through", "as", "for", "then",
    "cat", "dog", "man", "woman", "car", "city", "house", "tree", "water", "walking", "running", "forest", "people", "street",
    "blurry", "worst", "bad", "low", "ugly", "distorted", "inconsistent", "motion", "jittery", "4k", "hd", "realistic",
    "background", "shape", "object", "colored", "coloured", "pattern", "dark", "deep",
)
TRAINED_FORMS = (
    "{thing} {doing} {place} {ground}", "{thing} {doing} {place} {ground}", "{thing} {doing} {place} {ground}",
    "{thing} {does} {place} {ground}", "{thing} {does} {place} {ground}", "{place} {ground}, {thing} {does}",
    "{place} {ground} {thing} is {doing}", "{thing}, {doing}, {place} {ground}", "{ground} with {thing} {doing}",
    "{thing} that {does} {place} {ground}", "{doing} {bare} {place} {ground}", "{thing} is {doing} {place} {ground}",
    "{bare}, {ground}, {doing}", "{bare} {doing}, {ground}", "{thing} {place} {ground} {doing}",
    "{thing} {place} {ground}, {doing}", "{ground} and {thing} {doing}",
)
UNSEEN_FORMS = (
    "{thing} {place} {ground}; it {does}", "there is {thing} {doing}, and behind it {ground}",
    "show me {thing} that is {doing}, {place} {ground}", "we see {ground} and {thing} which is {doing}",
    "{thing} keeps {doing} while {ground} fills the picture", "{doing}: {thing}, {place} {ground}",
    "in front of {ground}, there is {thing}: it {does}", "{thing} {doing} {place} {ground}",
)


def caption(row: list[int], rng: random.Random, unseen: bool = False) -> str:
    """One wording of a scene; `unseen` takes a form that training never used (its words may be trained)."""
    value = dict(zip(INTS, row))
    ground = _ground(value, rng)
    if value["objects"] == 0:
        return _finish(rng.choice(("{}", "{}", "{} moving", "just {}", "{} and nothing else")).format(ground), rng)
    motion = MOTIONS[value["motion"]]
    thing, bare = (_pair(value, rng) if value["objects"] == 2 else _single(value, rng))
    doing, does = rng.choice(MOTION_WORDS[motion])
    if value["objects"] == 2:
        does = _plural(doing, does)
    if motion == "still" and not unseen and rng.random() < 0.5:
        form = rng.choice(("{thing} {place} {ground}", "{ground} with {thing}", "{bare} {place} {ground}", "{bare}, {ground}"))
    else:
        form = rng.choice(UNSEEN_FORMS if unseen else TRAINED_FORMS)
    text = form.format(thing=thing, bare=bare, doing=doing, does=does, place=rng.choice(PLACES), ground=ground)
    if value["objects"] == 2:
        text = text.replace(" is ", " are ")
    return text if unseen else _finish(text, rng)


def _named(size: int, colour: int, shape: int, rng: random.Random) -> str:
    name = list(COLOURS)[colour]
    words = (rng.choice(SIZE_WORDS[size]), rng.choice(COLOUR_WORDS.get(name, (name,))), rng.choice(SHAPE_WORDS[SHAPES[shape]]))
    return " ".join(w for w in words if w)


def _single(value: dict[str, int], rng: random.Random) -> tuple[str, str]:
    bare = _named(value["size"], value["colour"], value["shape"], rng)
    return _article(bare, rng), bare


def _article(bare: str, rng: random.Random) -> str:
    article = "an" if bare[0] in "aeiou" else "a"
    return f"{rng.choice((article, article, article, 'the', 'one'))} {bare}"


def _pair(value: dict[str, int], rng: random.Random) -> tuple[str, str]:
    left = _named(value["size"], value["colour"], value["shape"], rng)
    right = _named(value["size"], value["colour2"], value["shape2"], rng)
    first, second = _article(left, rng), _article(right, rng)
    thing = rng.choice((f"{first} and {second}", f"{first} and {second}", f"{first} on the left and {second} on the right",
                        f"{first} next to {second}", f"{first} beside {second}", f"{first} left of {second}"))
    return thing, f"{left} and {right}"


def _plural(doing: str, does: str) -> str:
    """What two do: "bounces" -> "bounce". Taken from the word for doing it where the ending is unclear."""
    head, _, tail = does.partition(" ")
    if head == "does":
        head = "do"
    elif head.endswith(("shes", "goes", "flies")):
        head = {"goes": "go", "flies": "fly"}.get(head, head[:-2])
    else:
        head = head[:-1]
    return f"{head} {tail}".strip()


def _ground(value: dict[str, int], rng: random.Random) -> str:
    if value["ground"] >= len(PATTERNS):
        return rng.choice(GROUND_WORDS[SCENES[value["ground"] - len(PATTERNS)]])
    name = list(GROUND_COLOURS)[value["ground_colour"]]
    colour = rng.choice(GROUND_COLOUR_WORDS.get(name, (name,)))
    if name != "black" and rng.random() < 0.06:
        colour = "dark " + colour
    words = rng.choice(GROUND_WORDS[PATTERNS[value["ground"]]]).format(colour)
    return words.replace("a orange", "an orange")


def _finish(text: str, rng: random.Random) -> str:
    if rng.random() < 0.12:
        text = rng.choice(LEADS) + text
    if rng.random() < 0.08:
        words = text.split(" ")
        for _ in range(rng.randint(1, 3)):
            words.insert(rng.randint(0, len(words)), rng.choice(FILLERS))
        text = " ".join(words)
    if rng.random() < 0.15:
        text += "."
    return text[0].upper() + text[1:] if rng.random() < 0.2 else text
