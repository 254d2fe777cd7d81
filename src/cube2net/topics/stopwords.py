"""Stop words: the small words of each language, and words that every paper or review uses."""

from __future__ import annotations

SMALL_WORDS = {
    "English": """
        a about above across after again against all almost along already also although always am among amongst an and
        another any anyone anything are aren't around as at away be became because become becomes been before behind
        being below between beyond both but by can can't cannot could couldn't did didn't do does doesn't doing don't
        done down due during each either else enough especially etc even ever every everything except five
        for four from further furthermore had hadn't has hasn't have haven't having he hence her here hers herself him
        himself his how however i if in indeed instead into is isn't it it's its itself just least less let like many
        may maybe me might mine more moreover most mostly much must my myself namely near nearly neither never
        nevertheless next no nobody none nonetheless nor not nothing now of off often on once one only onto or other
        others otherwise our ours ourselves over own per perhaps rather really regarding s same seem seems
        several shall she should shouldn't since six so some somehow someone something sometimes still such t than that
        that's the their theirs them themselves then there thereby therefore these they third this those though three
        through throughout thus to together too toward towards two under unless unlike until up upon us using very via
        was wasn't we we're well were weren't what whatever when whenever where whereas whereby wherein whether which
        while who whole whom whose why will with within without won't would wouldn't yes yet you you're your yours
        yourself i've we've they're i'm he's she's there's let's what's
        """,
    "French": """
        à afin ai ainsi alors après au aucun aucune aussi autre autres aux avait avant avec avoir car ce ceci cela
        celle celles celui ces cet cette ceux chaque chez ci comme comment d dans de depuis des deux donc dont du elle
        elles en encore entre est et était être eu fait faire grâce il ils je l la là laquelle le lequel les lesquels
        leur leurs lors lorsque mais même mêmes ne ni nos notre nous on ont où ou par parmi pas pendant peut
        peuvent plus plusieurs pour pourquoi puis qu quand que quel quelle quelles quelques qui sa sans se selon ses
        si soit son sont sous sur tous tout toute toutes très trois un une vers via vos votre vous y été
        """,
    "German": """
        aber alle allem allen aller alles als also am an andere anderen anderer auch auf aus bei beim bin bis da dabei
        dadurch damit dann daran darauf das dass dazu dem den denen denn der deren des dessen dich die dies diese diesem
        diesen dieser dieses doch dort du durch ein eine einem einen einer eines einige er es etwa für gegen haben hat
        hatte hier ihr ihre ihrem ihren ihrer im in ist jede jeder kann kein keine können man mehr mit muss nach nicht
        noch nur ob oder ohne sehr sein seine seiner sich sie sind so sowie über um und uns unser unter vom von vor war
        waren was wenn werden wie wir wird wo wurde wurden zu zum zur zwei zwischen
        """,
    "Spanish": """
        a al algo algunas algunos ante antes aquel así aunque cada como con contra cual cuales cuando de del desde donde
        dos e el él ella ellas ellos en entre era es esa esas ese eso esos esta está están estas este esto estos fue
        fueron ha han hasta hay la las le les lo los más mediante mi mientras muy ni no nos nosotros nuestra nuestro o
        otra otras otro otros para pero poco por porque puede pueden que qué quien se sea según ser si sí sido sin sobre
        son su sus también tanto tiene tienen todo todos tras tres tu un una unas uno unos y ya
        """,
    "Portuguese": """
        a à ainda ao aos após aquela aquele as às até cada com como da das de dela dele depois desde do dos duas e é ela
        elas ele eles em entre era essa essas esse esses esta está estas este estes eu foi foram há isso isto já mais
        mas mesmo muito na não nas nem no nos nós nossa nosso num numa o onde os ou para pela pelas pelo pelos pode
        podem por porque quando que quem são se seja sem ser seu seus sob sobre sua suas também tem têm todas todos um
        uma umas uns
        """,
    "Italian": """
        a ad agli ai al alla alle allo anche ancora avere che chi ci come con cui da dagli dai dal dalla dalle degli
        dei del della delle dello di dopo dove due e è ed era essere fra gli ha hanno i il in io l la le lo loro ma
        mediante molto ne negli nei nel nella nelle nello noi nostra nostro o ogni per perché più può quale quali
        quando quella quelle quello questa queste questi questo qui se senza si sia sono stata stato su sua sue sui
        sul sulla sulle suo suoi tra tre tutti tutto un una uno
        """,
    "Dutch": """
        aan al alle als altijd andere ben bij daar dan dat de deze die dit doch doen door dus een en er ge geen had heb
        hebben heeft het hier hij hoe hun iets ik in is ja je kan kunnen maar meer men met mijn moet na naar niet niets
        nog nu of om omdat onder ons ook op over reeds te tegen tot tussen u uit uw van veel voor waar wanneer was wat
        werd wie wij wordt worden zal ze zeer zich zij zijn zo zonder zou
        """,
    "Swedish": """
        alla att av bara blev bli blir de dem den denna deras dess det detta dig din dock du där då efter ej eller en
        enligt ett från för genom han har hon hur här i icke ingen inom inte jag kan kunde man med mellan men mer mot
        mycket ni nu när och olika om oss på samma sedan sig sin sina som så till under upp ut utan vad var vara vi vid
        vilka vilken vår än är över
        """,
}


SCRIPTS = {
    "CJK": "Chinese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "CYRILLIC": "Cyrillic",
    "ARABIC": "Arabic",
    "GREEK": "Greek",
    "HEBREW": "Hebrew",
    "DEVANAGARI": "Devanagari",
    "BENGALI": "Bengali",
    "TAMIL": "Tamil",
    "THAI": "Thai",
    "ETHIOPIC": "Ethiopic",
}


# What a paper or a review says whatever it is about: no term, and no phrase holds it.
EMPTY_WORDS = """
    able accelerate according accurate accurately achieve achieved achieves achieving acquire adapt adapts add added
    adding addition additional additionally address addressed addresses addressing adds adopt adopted adopting adopts
    advanced affect affects aid aim aimed aiming aims al allow allowed allowing allows alone alongside analyze
    analyzed analyzes analyzing appeared appears applicable applied applies apply applying appropriate arise arises
    assess assessed assesses assessing assist associated augment automatically availability available avoid avoids
    based becoming beneficial besides boost boosts build building builds built called came capable capture captured
    captures capturing carefully carried carries carry carrying certain clear collect collected com combine combined
    combines combining come comes commonly compare compared compares comparing competitive composed comprehensive
    comprise comprises comprising conclude concludes conduct conducted conducts confirm confirms consequently consider
    considerable considerably considered considering considers consist consistent consistently consisting consists
    constitute constitutes construct constructed constructs contain containing contains contribute contributes
    conventional corresponding cover covering covers create created creates creating critical crucial current
    currently deal deals decrease decreases dedicated deeper define defined defines demonstrate demonstrated
    demonstrates demonstrating depend depending depends derive derived describe described describes describing
    designed designing despite detailed determine determines determining develop developed developing develops differ
    different differs directed directly discuss discussed discusses discussing distinct distributed diverse
    dynamically easily effective effectively effectiveness efficient efficiently eight emerge emerged emerges
    empirically employ employed employing employs enable enabled enables enabling encourage encourages enhance
    enhanced enhances enhancing enrich ensure ensures ensuring entire essential establish established establishes et
    evaluate evaluated evaluates evaluating examine examined examines examining exhibit exhibits exist existing exists
    expected experimentally explicitly exploit exploiting exploits explore explored explores exploring extend extended
    extending extends extensive extra extremely facilitate facilitates facilitating fail fails far feasibility
    featuring fewer fills finally find finds focus focused focuses focusing follow followed following follows former
    formulate found frequent frequently fully future gained gains generally get gets getting github give given gives
    giving go goes going got great greatly grossed grossing handle handles handling heavily help helped helpful helps
    higher highest highlight highlighting highlights highly html http https ideal identified identifies identify
    identifying ii iii illustrate illustrates implement implemented important importantly improve improved improves
    improving include included includes including incorporate incorporated incorporates incorporating increase
    increased increases increasing increasingly independently indicate indicated indicates indicating inherent
    inspired integrate integrated integrates integrating intended interesting interestingly introduce introduced
    introduces introducing investigate investigated investigates investigating investigation involve involved involves
    involving know known lack lacks largely larger largest last later latter lead leading leads learn learns led
    leverage leverages leveraging likely limited little look loosely lower made main mainly maintain maintaining
    maintains major majority make makes making meaningful meet meets mitigate mitigates mitigating motivated naturally
    necessarily necessary need needed needs newly nine notable notably novel numerous observe observed obtain obtained
    obtaining obtains occur occurs offer offered offering offers operate org originally outperform outperformed
    outperforming outperforms overall overcome overcomes par particular particularly pdf perform performed performing
    performs pose poses possibility possible potential potentially precise predicted preliminary premiered present
    presented presenting presents previous previously primarily primary prior produce produced produces producing
    prominent promising proper propose proposed proposes proposing prove proven proves provide provided provides
    providing publicly ranging reach reaches realistic received recent recently reduce reduced reduces reducing
    reflect reflects regard relatively release released reliably relies rely relying remain remained remains
    remarkable remarkably reported reports represent represented representing represents require required requires
    requiring respectively resulting reveal revealed reveals said say says see seek seeks serve serves seven
    shortcoming show showed showing shown shows significant significantly similarly simply slightly smaller solely
    solve specifically starred starring stars start starts straightforward strong strongly struggle struggles studied
    studying subsequently substantial substantially successful successfully suffer suffers sufficient suggest
    suggested suggesting suggests superior supporting surprisingly tackle tackles tackling take taken takes taking
    tells ten tend tends thanks thorough tries try typical typically unclear understand url use used useful uses
    usually utilize utilized utilizes utilizing validate validated validates valuable varies various vary varying vs
    want wants went wide widely www yield yielding yields
"""


# No terms by themselves, but good in a phrase with a word that is: "low resource", "dialogue state", "word order".
WEAK_WORDS = """
    ability abstract advance advantage alternative amount anti appendix applicability application approach art article
    aspect attempt aware base basis benefit best better bi bit capability capacity case central challenge challenging
    chapter characteristics choice close co combination common comparable comparison complementary complex component
    concern conclusion condition configuration consistency contrast contribution core counterpart cross design detail
    difference difficult difficulty driven easy effect efficacy efficiency effort element end example experiment
    experimental exploration extension fact few figure fill final finding first fixed framework full gain gap general
    goal good guidance hand high idea impact implication importance improvement individual initial insight instance
    inter internal introduction issue key kind large level limitation long lot low manner margin mechanism meta method
    methodology model multi multiple nature new non number objective observation open opportunity order oriented
    original out outcome overview paper paradigm part performance phase phenomenon pipeline popular post powerful
    practice pre problem procedure progress promise protocol purpose range rate re real reason related report result
    rich role scenario second section self semi series set setting setup short similar simple single small solution
    specific state step strategy study style sub success survey table task technique term thesis thing top traditional
    type un underlying unique usage variant variety version way wise work year
"""


# Given names and months: no terms by themselves either, but "james bond" is one.
NAMES = """
    aaron adam alan albert alex alexander alice amanda amy andrea andrew angela ann anna anthony april arthur ashley
    august barbara ben benjamin betty billy bob bobby bradley brandon brenda brian bruce bryan carl carol carolyn
    catherine charles cheryl chris christina christine christopher cynthia dan daniel david deborah december diane
    donald donna douglas dylan edward elizabeth emily emma eric ethan eugene evelyn february fred gabriel gary george
    gerald gregory hannah harold heather helen henry jacob jacqueline james janet janice january jason jeffrey
    jennifer jeremy jerry jessica jim joan joe john johnny jonathan joseph joshua juan judith julia julie july june
    justin karen katherine kathleen kathryn keith kelly kenneth kevin kimberly kyle larry laura lauren lawrence linda
    lisa louis margaret maria martha mary matt matthew megan melissa michael michelle mike nancy nathan nicholas
    nicole noah november october olivia pamela patricia patrick paul peter philip rachel ralph randy rebecca richard
    robert roger ronald russell ryan sam samantha samuel sandra sara sarah sean september sharon shirley stephanie
    stephen steve susan teresa terry thomas tim timothy tom tyler victoria vincent walter william willie zachary
"""


CONNECTORS = ("of", "to", "in", "of the", "in the", "by", "on the", "based", "de")


def split_words(text: str) -> frozenset[str]:
    """Return the words of a list written with blanks.

    >>> sorted(split_words("of the  of"))
    ['of', 'the']
    """
    return frozenset(text.split())
