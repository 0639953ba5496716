"""Head tables of treebanks other than the Penn Treebank, in the format of files of head rules."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["HEAD_TABLES"]

#: German: NEGRA and TIGER, much as the head finder of the Stanford parser for NEGRA has them.
_NEGRA = """
S right VVFIN VVIMP, right VP CVP, right VMFIN VAFIN VAIMP, right S CS, right
CS right S CS, right
VP right VVINF VVIZU VVPP, right VZ VAINF VMINF VMPP VAPP, right VP CVP, right PP, right
CVP right VP CVP, right
VZ right VVINF VAINF VMINF VVFIN VVIZU, right
CVZ right VZ, right
NP right NN NE MPN NM, right NP CNP PN CAR, right PIS PPER PRF PDS PRELS PWS, right ADJA AP, right
CNP right NN NE NP CNP, right
PN right NE NN MPN, right
MPN right NE NN FM CARD, right
AP right ADJD ADJA CAP AA, right ADV, right
AA right ADJD ADJA, right
CAP right ADJA ADJD AP, right
AVP right ADV, right AVP CAVP PROAV PWAV, right PP, right
PP left KOKOM APPR APPRART PROAV, left APPO, left PP CPP, left
CPP left APPR PP CPP, left
CH left NE NN FM XY, left
CO left
DL left S NP PN, left
NM right CARD NN, right
QL right CARD, right
ISU right
* right
punctuation $. $, $( $*LRB*
"""

#: Chinese: the Penn Chinese Treebank, much as Sun & Jurafsky (2004) and later head finders have it.
_CTB = """
ADJP right ADJP JJ AD, right
ADVP right ADVP AD CS JJ, right
CLP right CLP M, right
CP right DEC, right CP IP, right
DNP right DEG DEC, right
DP left DT DP OD, left
DVP right DEV, right
FRAG right VV NN NR NT, right
INTJ right INTJ IJ, right
IP right VP IP, right
LCP right LC LCP, right
LST right CD OD, right
NP right NP NN NR NT PN, right QP, right
PP left P PP, left
PRN right NP IP VP NT NR NN, right
QP right QP CD OD CLP, right
UCP right
VCD right VCD VV VA VC VE, right
VCP left VCP VV VA VC VE, left
VNV left VNV VV VA VC VE, left
VP left VP VV VC VE VA BA LB SB VCD VSB VRD VNV VCP, left IP, left
VPT left VNV VV VA VC VE, left
VRD left VRD VV VA VC VE, left
VSB right VSB VV VA VC VE, right
* right
punctuation PU
"""

#: French: the French Treebank, with its long and its short tags, much as Dybro-Johansen (2004).
_FTB = """
SENT right VN, right AP, right NP, right VPinf VPpart, right Srel Ssub Sint, right
AP right A ADJ ADJWH, right ET, right V VPP, right N NC, right AdP ADV, right
AdP right ADV ADVWH, right AdP, right
COORD left CC C CS, left
NP left N NC NPP, left PRO CL PROREL PROWH, left NP, left A ADJ AP, left I ET, left
PP left P P+D P+PRO, left PP, left
VN right V VPP VINF VPR VIMP VS, right VN, right
VPinf right VN, right V VINF, right
VPpart right VN, right V VPP VPR, right
Srel right VN, right AP NP, right
Ssub right VN, right AP NP VPinf, right
Sint right VN, right AP NP, right
* left
punctuation PONCT PUNC
"""

#: Japanese: the Keyaki treebank, where heads are last; particles head their phrases.
_KEYAKI = """
IP right VB ADJI ADJN VB0 VB2, right NP AX, right IP, right
CP right IP CP, right
NP right N NPR PRO WPRO Q QN NUMCLP, right NP NML, right IP CP, right
NML right N NPR PRO NML NP, right
PP right P, right PP, right
ADVP right ADV WADV ADVP, right
ADJP right ADJI ADJN ADJP, right
NUMCLP right CL, right NUM, right
CONJP right CONJ P, right NP, right
INTJP right INTJ, right
PRN right IP NP PP CP, right
FRAG right
* right
punctuation PU PUL PUR SYM LS
"""

#: The tables by the names under which they are chosen.
HEAD_TABLES: Mapping[str, str] = {
    "ctb": _CTB,
    "ftb": _FTB,
    "keyaki": _KEYAKI,
    "negra": _NEGRA,
}
