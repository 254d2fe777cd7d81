from .building.build import (
    build as build,
    leave_out_known as leave_out_known,
    update as update,
)
from .building.concatenation import (
    concatenate as concatenate,
    concatenate_topics as concatenate_topics,
    knows_objects as knows_objects,
)
from .building.labels import (
    TOPIC as TOPIC,
    parse_bins as parse_bins,
)
from .building.links import (
    count_heavier as count_heavier,
)
from .building.replacing import (
    Changes as Changes,
    change_items as change_items,
    find_changes as find_changes,
)
from .cuboids import (
    BOTH as BOTH,
    FULL as FULL,
    cross_levels as cross_levels,
    cuboid as cuboid,
    pick_cells as pick_cells,
    place_cells as place_cells,
)
from .engines import (
    ENGINES as ENGINES,
)
from .engines.duckdb import (
    DuckDB as DuckDB,
    check_memory as check_memory,
)
from .engines.spark import (
    Spark as Spark,
)
from .name_index import (
    NameIndex as NameIndex,
)
from .storage.parts import (
    check_whole as check_whole,
    lookup_of as lookup_of,
)
from .storage.store import (
    change_folder as change_folder,
    check_place as check_place,
    read as read,
    read_manifest as read_manifest,
    save as save,
    verify as verify,
)
from .views import (
    dice as dice,
    drill_down as drill_down,
    kinds_of as kinds_of,
    of_kind as of_kind,
    roll_up as roll_up,
    slice_cube as slice_cube,
)
from .window import (
    between as between,
    time_dimensions as time_dimensions,
    times_of as times_of,
    window_labels as window_labels,
)
from .removal import (
    hide_pairs as hide_pairs,
    unlinked_pairs as unlinked_pairs,
    without_items as without_items,
)
