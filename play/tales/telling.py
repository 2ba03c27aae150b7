"""Make up tales from a seed. In each, an early fact decides something late.

A person keeps their gender and trade, a sum is correct, a gift has its giver, a list is repeated backwards. The last
four letters do not show such facts; a model with a longer context can use them.
"""

import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

WORDS: dict[str, Any] = tomllib.loads((Path(__file__).parent / "words.toml").read_text("utf-8"))

NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Person:
    """A person with a name; `she`, `her` and `her_own` are their pronouns, whichever they are."""

    def __init__(self, name: str, woman: bool, trade: str, character: str) -> None:
        self.name, self.trade, self.character = name, trade, character
        self.she, self.her, self.her_own = ("she", "her", "her") if woman else ("he", "him", "his")
        self.child = "daughter" if woman else "son"


class Teller:
    """Makes up one tale after the other; the same ones for the same seed."""

    def __init__(self, seed: int | str) -> None:
        self.random = Random(seed)
        self.tales: tuple[Callable[[], str], ...] = (
            *(self.quest, self.swaps, self.market, self.chain),
            *(self.riddles, self.contest, self.letters, self.week),
        )

    def tale(self) -> str:
        """Return a tale: a title, an empty line, and paragraphs."""
        return self.random.choice(self.tales)()

    def one(self, kind: str) -> Any:
        """Return a random word of a kind."""
        return self.random.choice(WORDS[kind])

    def some(self, kind: str, many: int) -> list[Any]:
        """Return so many different words of a kind."""
        return self.random.sample(WORDS[kind], many)

    def of(self, *ways: str) -> str:
        """Return one of several wordings."""
        return self.random.choice(ways)

    def people(self, many: int) -> list[Person]:
        """Return so many different people."""
        named = [(name, kind == "girls") for kind in ("girls", "boys") for name in WORDS[kind]]
        trades = self.some("trades", many)
        return [
            Person(name, woman, trade, self.one("characters"))
            for (name, woman), trade in zip(self.random.sample(named, many), trades, strict=True)
        ]

    def opening(self, hero: Person) -> str:
        """Return the beginning of a tale."""
        home = self.one("homes")
        return self.of(
            f"Once there was {a(hero.character)} {hero.trade} called {hero.name}, who lived {home}.",
            f"In a village {home} lived {a(hero.trade)} whose name was {hero.name}. "
            f"Everybody said that {hero.name} was {hero.character}, and so {hero.she} was.",
            f"{hero.name} was {a(hero.trade)} {home}, and {hero.character} like "
            f"{hero.her_own} mother before {hero.her}.",
            f"Long ago, {home}, there lived {a(hero.trade)} with one {hero.child}. "
            f"The {hero.child} was called {hero.name} and became {a(hero.trade)} too, and {a(hero.character)} one.",
        )

    def quest(self) -> str:
        """The hero helps three animals, who each give a gift; each gift overcomes an obstacle."""
        [hero] = self.people(1)
        thing = f"{self.one('colors')} {self.one('treasures')}"
        animals, troubles, gifts = self.some("animals", 3), self.some("troubles", 3), self.some("gifts", 3)
        parts = [f"{hero.name} and the {thing}"]
        why = self.of(
            f"One day the king lost his {thing}, and whoever found it should have half of the orchard.",
            f"One night {hero.she} dreamed of {a(thing)}, and could think of nothing else.",
            f"{upper(hero.her_own)} grandmother had told {hero.her} of {a(thing)} that lay beyond the hills.",
        )
        left = self.of("So", "And so", "The next morning")
        parts.append(f"{self.opening(hero)} {why} {left} {hero.name} set out to look for the {thing}.")
        for animal, (trouble, help_), (gift, *_) in zip(animals, troubles, gifts, strict=True):
            met = self.of("On the road", "Before long", "By a spring", "Under a tree", "Not far from there")
            cried = self.of("cried", "called", "said", "sighed")
            thanks = self.of(
                f'"Take this {gift}," said the {animal}, "you will need it."',
                f"The {animal} was glad and gave {hero.her} {a(gift)}.",
                f'"I have nothing but {a(gift)}," said the {animal}, "but it is yours."',
            )
            parts.append(
                f'{met} {hero.she} met {a(animal)}. "{trouble}," {cried} the {animal}. {hero.name} {help_}. {thanks}'
            )
        for place in self.random.sample(range(3), 3):
            animal, (gift, obstacle, solved) = animals[place], gifts[place]
            came = self.of("Then there was", f"After a while {hero.she} came to", "But in the way was", "Next came")
            took = self.of(
                f"{hero.name} took out the {gift} of the {animal}.",
                f'"The {animal} gave me {a(gift)}," thought {hero.name}.',
                f"Now {hero.she} remembered the {animal}, and the {gift}.",
            )
            parts.append(f"{came} {obstacle}. {took} {solved.format(her=hero.her, she=hero.she)}.")
        end = self.of(
            f"And there, on a flat stone, was the {thing}.",
            f"Behind it lay the {thing}, as bright as on the first day.",
            f"At last {hero.she} held the {thing} in {hero.her_own} hands.",
        )
        home = self.of(
            f"{hero.name} went home and thanked the {animals[0]}, the {animals[1]} and the {animals[2]} on the way.",
            f"The {animals[0]}, the {animals[1]} and the {animals[2]} came to the feast, and {hero.name} danced "
            f"with all three.",
        )
        parts.append(f"{end} {home} {self.one('morals')}")
        return joined(parts)

    def swaps(self) -> str:
        """A chain of bargains, repeated backwards at the end."""
        hero, *others = self.people(self.random.randint(4, 5))
        goods = self.some("swapped", len(others) + 1)
        parts = [f"How {hero.name} came by {a(goods[-1])}"]
        parts.append(f"{self.opening(hero)} {self.one('weathers')} {hero.name} had nothing to sell but {a(goods[0])}.")
        for given, taken, other in zip(goods, goods[1:], others, strict=False):
            parts.append(
                self.of(
                    f'"What will you take for the {given}?" asked {other.name} the {other.trade}. "{upper(a(taken))},"'
                    f" said {hero.name}, and so it was done.",
                    f'{hero.name} met {other.name} the {other.trade}, who carried {a(taken)}. "I would rather have'
                    f' {a(given)}," said {other.name}. They shook hands, and {hero.name} walked on with the {taken}.',
                    f"Then came {other.name} the {other.trade} with {a(taken)}, and wished for {a(given)}. So"
                    f" {hero.name} gave {other.her} the {given} and took the {taken}.",
                )
            )
        trades = ", ".join(
            f"the {taken} from {other.name} for the {given}"
            for given, taken, other in reversed(list(zip(goods, goods[1:], others, strict=False)))
        )
        asked = self.of(
            "At home they asked", f'"Where did you get that?" asked {hero.her_own} mother', "Everybody wondered"
        )
        parts.append(f'{asked}. "I had {trades}," said {hero.name}. {self.one("morals")}')
        return joined(parts)

    def market(self) -> str:
        """The hero gives fruit away, again and again; the number that is left is correct each time."""
        hero, *others = self.people(4)
        one, many = self.one("fruits")
        left = self.random.randint(10, 20)
        parts = [f"The {many} of {hero.name}"]
        parts.append(
            f"{self.opening(hero)} {self.one('weathers')} {hero.name} went to market with {NUMBERS[left]} {many}."
        )
        for other in others:
            took = self.random.randint(1, min(left, 6))
            left -= took
            fruit = one if took == 1 else many
            still = f"{upper(NUMBERS[left])} {one + ' was' if left == 1 else many + ' were'} left."
            parts.append(
                self.of(
                    f"{other.name} the {other.trade} asked for {NUMBERS[took]} {fruit}, and {hero.name} counted them"
                    f" into {other.her_own} basket. {still}",
                    f'"Give me {NUMBERS[took]} of your {many}," said {other.name} the {other.trade}. {still}',
                    f"{upper(NUMBERS[took])} {fruit} went to {other.name}, who was {a(other.trade)} and paid at once."
                    f" {still}",
                )
            )
            if not left:
                break
        kept = "none" if not left else NUMBERS[left]
        parts.append(
            f'"How many {many} do you bring back?" they asked at home. "{upper(kept)}," said {hero.name}. '
            f"{self.one('morals')}"
        )
        return joined(parts)

    def chain(self) -> str:
        """The house that somebody built: each verse is the one before it with a line in front."""
        [hero] = self.people(1)
        dwelling = self.one("dwellings")
        animals, deeds = self.some("animals", self.random.randint(3, 5)), self.some("deeds", 4)
        last = f"that lived in the {dwelling} that {hero.name} built."
        parts = [f"The {dwelling} that {hero.name} built", f"This is the {dwelling} that {hero.name} built."]
        said = f"the {animals[0]} {last}"
        parts.append(f"This is {said}")
        for animal, deed in zip(animals[1:], deeds, strict=False):
            said = f"the {animal} that {deed} {said}"
            parts.append(f"This is {said}")
        guest = self.of("the rain", "the king", "the postman", "the night", "a stranger")
        others = ", the ".join(animals[:0:-1])
        parts.append(f"And when {guest} came to the {dwelling}, out ran the {others} and the {animals[0]}.")
        return joined(parts)

    def riddles(self) -> str:
        """One person asks a riddle, another guesses wrong and then right, and gets the promised prize."""
        asker, guesser = self.people(2)
        question, answer = self.one("riddles")
        prize = f"{self.one('colors')} {self.one('treasures')}"
        wrong = [guess for guess in dict.fromkeys(riddle[1] for riddle in self.some("riddles", 5)) if guess != answer]
        parts = [f"The riddle of {asker.name} the {asker.trade}"]
        parts.append(
            f"{self.opening(guesser)} {self.one('weathers')} {asker.name} the {asker.trade} came by and said, "
            f'"If you can answer me you shall have my {prize}. {question}. What am I?"'
        )
        for guess in wrong[: self.random.randint(1, 3)]:
            parts.append(
                self.of(
                    f'"{upper(a(guess))}!" said {guesser.name}. "No," said {asker.name}, "not {a(guess)}."',
                    f"{guesser.name} thought of {a(guess)}. {asker.name} shook {asker.her_own} head.",
                    f'"Are you {a(guess)}?" asked {guesser.name}. "That I am not," said {asker.name}.',
                )
            )
        glad = self.of("laughed", "smiled", "jumped up")
        parts.append(
            f'Then {guesser.name} {glad}. "{question}," {guesser.she} said slowly. '
            f'"You are {a(answer)}." And {asker.name} the {asker.trade} gave {guesser.her} the {prize}.'
        )
        return joined([*parts, self.one("morals")])

    def contest(self) -> str:
        """Two comparisons of three animals, from which the winner follows."""
        plain, more, most = self.one("qualities")
        first, second, third = self.some("animals", 3)
        [judge] = self.people(1)
        prize = f"{self.one('colors')} {self.one('treasures')}"
        clues = [f"the {first} was {more} than the {second}", f"the {second} was {more} than the {third}"]
        self.random.shuffle(clues)
        named = self.random.sample([first, second, third], 3)
        how = self.of("quarrelled", "could not agree", "argued")
        found = self.of("watched them for a day", "put them to the test", "asked their neighbours")
        very = self.of("Very", "As anybody can see, very")
        return joined(
            [
                f"Who is the {most}?",
                f"The {named[0]}, the {named[1]} and the {named[2]} {how} all day about who was the {most}. "
                f"{self.one('weathers')} So they went to {judge.name} the {judge.trade}, who was {judge.character}, "
                f"and who had {a(prize)} to give away.",
                f'"How {plain} are you?" asked {judge.name}. "{very} {plain}," said the {named[0]}. The {named[1]} '
                f"said the same, and so did the {named[2]}.",
                f"{judge.name} {found}, and it turned out that {clues[0]}, and that {clues[1]}.",
                f'"Then the {first} is the {most}," said {judge.name}, "and the {third} is the least {plain} of you." '
                f"The {first} went home with the {prize}. {self.one('morals')}",
            ]
        )

    def letters(self) -> str:
        """A letter, and an answer to its questions."""
        writer, friend = self.people(2)
        gift, wish = self.some("brought", 2)
        animal = self.one("animals")
        thing = f"{self.one('colors')} {self.one('treasures')}"
        home, other = self.some("homes", 2)
        day = self.random.choice(DAYS)
        asked = self.random.sample(
            [
                (f"How is your {animal}?", f"My {animal} is well, and asks for you."),
                (f"Have you still got my {thing}?", f"Your {thing} hangs on my wall."),
                (f"Is it true that you live {other} now?", f"Yes, I live {other}, and I like it here."),
                (f"Are you still {a(friend.trade)}?", f"I am still {a(friend.trade)}, and the hands ache."),
                (f"Will you come on {day}?", f"On {day} I cannot come, but the day after I will."),
            ],
            3,
        )
        return joined(
            [
                f"{writer.name} writes to {friend.name}",
                f"Dear {friend.name},",
                f"{self.one('weathers')} I sit {home} and think of you. Thank you for {gift} that you sent me. "
                + " ".join(question for question, _ in asked)
                + f" I send you {wish}.",
                f"Your {writer.character} {writer.trade}, {writer.name}",
                f"Dear {writer.name},",
                f"I am glad that you liked the {gift.partition(' ')[2]}. "
                + " ".join(answer for _, answer in asked)
                + f" And thank you for {wish}!",
                f"Your old friend {friend.name}",
            ]
        )

    def week(self) -> str:
        """Every day somebody brings a gift; on the last day all gifts are listed in order."""
        hero, *others = self.people(self.random.randint(4, 6))
        begin = self.random.randint(0, 6 - len(others))
        gifts = self.some("brought", len(others))
        ill = self.of("was ill and stayed in bed", "broke a leg", "had a cold", "could not leave the house")
        parts = [f"The week when {hero.name} {ill}", f"{self.opening(hero)} One week {hero.she} {ill}."]
        for at, (other, gift) in enumerate(zip(others, gifts, strict=True)):
            parts.append(
                self.of(
                    f"On {DAYS[begin + at]} came {other.name} the {other.trade} and brought {gift}.",
                    f"{DAYS[begin + at]} brought {other.name}, who was {a(other.trade)}, with {gift}.",
                    f'On {DAYS[begin + at]} there was a knock. "It is {other.name} the {other.trade}," said a voice, '
                    f'"with {gift}."',
                )
            )
        parts.append(
            f"On {DAYS[begin + len(others)]} {hero.name} got up and looked around. "
            + upper(", ".join(f"{gift} from {other.name}" for other, gift in zip(others, gifts, strict=True)))
            + f". {self.one('morals')}"
        )
        return joined(parts)


def a(word: str) -> str:
    """Return a word with its article."""
    return f"an {word}" if word[0] in "aeio" or word.startswith("um") else f"a {word}"


def joined(parts: Sequence[str]) -> str:
    """Return a title and paragraphs as a text; every sentence begins with a capital letter."""
    return "\n".join(map(upper, parts)) + "\n"


def upper(text: str) -> str:
    """Return a text that begins with a capital letter."""
    return text[0].upper() + text[1:]


def tales(seed: int | str, characters: int) -> list[str]:
    """Return different tales with at least that many characters in all."""
    teller = Teller(seed)
    made: dict[str, None] = {}
    size = 0
    while size < characters:
        tale = teller.tale()
        if tale not in made:
            made[tale] = None
            size += len(tale) + 1
    return list(made)
