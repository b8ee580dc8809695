"""torch.linalg and the older functions of the same kind (TL111)."""

from __future__ import annotations

from benchmarks.waits.rows import row

SETUP = """
a = torch.randn(16, 16, device="cuda") + 16 * torch.eye(16, device="cuda")
spd = a @ a.T
batch = torch.randn(4, 8, 8, device="cuda") + 8 * torch.eye(8, device="cuda")
tall = torch.randn(32, 16, device="cuda")
b = torch.randn(16, 4, device="cuda")
v = torch.randn(16, device="cuda")
lower = torch.linalg.cholesky_ex(spd)[0]
lu = torch.linalg.lu_factor_ex(a)
"""

ROWS = (
    row("torch.linalg.svd(a)", "torch.linalg.svd"),
    row("torch.linalg.svd(tall, full_matrices=False)", "torch.linalg.svd"),
    row("torch.linalg.svd(batch)", "torch.linalg.svd"),
    row("torch.svd(a)", "torch.svd"),
    row("a.svd()", ".svd"),
    row("torch.linalg.svdvals(a)", "torch.linalg.svdvals"),
    row("torch.svd_lowrank(tall, 4)", "torch.svd_lowrank"),
    row("torch.pca_lowrank(tall, 4)", "torch.pca_lowrank"),
    row("torch.linalg.eigh(spd)", "torch.linalg.eigh"),
    row("torch.linalg.eigh(batch)", "torch.linalg.eigh"),
    row("torch.linalg.eigvalsh(spd)", "torch.linalg.eigvalsh"),
    row("torch.linalg.eig(a)", "torch.linalg.eig"),
    row("torch.linalg.eigvals(a)", "torch.linalg.eigvals"),
    row("torch.linalg.cholesky(spd)", "torch.linalg.cholesky"),
    row("torch.linalg.cholesky(batch @ batch.mT)", "torch.linalg.cholesky"),
    row("torch.cholesky(spd)", "torch.cholesky"),
    row("torch.linalg.cholesky_ex(spd)", "torch.linalg.cholesky_ex", check_errors="absent"),
    row("torch.linalg.cholesky_ex(spd, check_errors=True)", "torch.linalg.cholesky_ex", check_errors="true"),
    row("torch.cholesky_solve(b, lower)", "torch.cholesky_solve"),
    row("torch.cholesky_inverse(lower)", "torch.cholesky_inverse"),
    row("torch.linalg.inv(a)", "torch.linalg.inv"),
    row("torch.linalg.inv(batch)", "torch.linalg.inv"),
    row("torch.inverse(a)", "torch.inverse"),
    row("a.inverse()", ".inverse"),
    row("torch.linalg.inv_ex(a)", "torch.linalg.inv_ex", check_errors="absent"),
    row("torch.linalg.inv_ex(a, check_errors=True)", "torch.linalg.inv_ex", check_errors="true"),
    row("torch.linalg.solve(a, b)", "torch.linalg.solve"),
    row("torch.linalg.solve(batch, batch)", "torch.linalg.solve"),
    row("torch.linalg.solve_ex(a, b)", "torch.linalg.solve_ex", check_errors="absent"),
    row("torch.linalg.solve_triangular(lower, b, upper=False)", "torch.linalg.solve_triangular"),
    row("torch.triangular_solve(b, lower, upper=False)", "torch.triangular_solve"),
    row("torch.linalg.lstsq(tall, torch.cat([b, b]))", "torch.linalg.lstsq"),
    row("torch.linalg.pinv(tall)", "torch.linalg.pinv"),
    row("torch.linalg.pinv(spd, hermitian=True)", "torch.linalg.pinv"),
    row("torch.pinverse(tall)", "torch.pinverse"),
    row("torch.linalg.qr(tall)", "torch.linalg.qr"),
    row("torch.linalg.qr(batch)", "torch.linalg.qr"),
    row("torch.linalg.householder_product(tall, v)", "torch.linalg.householder_product"),
    row("torch.linalg.det(a)", "torch.linalg.det"),
    row("torch.linalg.det(batch)", "torch.linalg.det"),
    row("torch.det(a)", "torch.det"),
    row("torch.linalg.slogdet(a)", "torch.linalg.slogdet"),
    row("torch.slogdet(batch)", "torch.slogdet"),
    row("torch.logdet(spd)", "torch.logdet"),
    row("torch.linalg.lu(a)", "torch.linalg.lu"),
    row("torch.linalg.lu_factor(a)", "torch.linalg.lu_factor"),
    row("torch.linalg.lu_factor_ex(a)", "torch.linalg.lu_factor_ex", check_errors="absent"),
    row("torch.linalg.lu_solve(lu.LU, lu.pivots, b)", "torch.linalg.lu_solve"),
    row("torch.linalg.ldl_factor(spd)", "torch.linalg.ldl_factor"),
    row("torch.linalg.matrix_rank(a)", "torch.linalg.matrix_rank"),
    row("torch.linalg.cond(a)", "torch.linalg.cond"),
    row("torch.linalg.matrix_exp(a / 100)", "torch.linalg.matrix_exp"),
    row("torch.matrix_exp(batch / 100)", "torch.matrix_exp"),
    row("torch.linalg.matrix_power(a, 3)", "torch.linalg.matrix_power", n="positive"),
    row("torch.linalg.matrix_power(a, -1)", "torch.linalg.matrix_power", n="negative"),
    row("torch.linalg.norm(a)", "torch.linalg.norm", ord="absent"),
    row("torch.linalg.norm(v, 2)", "torch.linalg.norm", ord="given"),
    row("torch.linalg.vector_norm(a)", "torch.linalg.vector_norm"),
    row("torch.linalg.matrix_norm(a)", "torch.linalg.matrix_norm", ord="absent"),
    row("torch.linalg.matrix_norm(a, ord=2)", "torch.linalg.matrix_norm", ord="2"),
    row('torch.linalg.matrix_norm(a, ord="nuc")', "torch.linalg.matrix_norm", ord="nuc"),
    row("torch.linalg.cross(b[:, :3], b[:, 1:])", "torch.linalg.cross"),
    row("torch.linalg.multi_dot([a, a, b])", "torch.linalg.multi_dot"),
    row("torch.linalg.matmul(a, b)", "torch.linalg.matmul"),
    row("torch.linalg.diagonal(a)", "torch.linalg.diagonal"),
    row("torch.linalg.tensorsolve(a, v)", "torch.linalg.tensorsolve"),
    row("torch.lobpcg(spd, k=2, niter=3)", "torch.lobpcg"),
)
